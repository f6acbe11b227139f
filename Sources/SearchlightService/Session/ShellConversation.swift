// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightEngine
import ServiceMessages
import Synchronization

/// What a program of the user's says that sees the whole index.
final class ShellConversation: ClientSession.Conversation {
    /// The interfaces that are for shells alone.
    static let interfaces: Set<String> = [
        ShellRequest.performMember.interface, ShellRequest.borrowStore.member.interface,
        LauncherRequest.interface,
    ]

    private let number: UInt64
    private let core: ServiceCore
    private let promises: PromiseDesk
    private let launcher: LauncherDesk
    private let lending: SessionTasks
    private let calls: EngineCallsConnection

    init(number: UInt64, link: (any ClientLink)?, core: ServiceCore) {
        self.number = number
        self.core = core
        promises = PromiseDesk(core, .moment)
        launcher = LauncherDesk(core)
        lending = SessionTasks(maximum: 2)
        calls = EngineCallsConnection(core.calls)
        // On the session bus progress is not told.
        if let connection = link as? BusConnection { calls.attach(connection) }
    }

    func receive(_ call: IncomingCall) {
        do throws(BusError) {
            switch call.member.interface {
            case IndexRequest.interface, QueryRequest.interface:
                call.refuse(
                    name: ServiceErrorName.accessDenied,
                    message: "A client that sees the whole index acts for no bundle. Connect as an app.")
            case ShellRequest.performMember.interface: calls.receive(call)
            case LauncherRequest.interface: launcher.take(try LauncherRequest(call), call)
            case ShellRequest.borrowStore.member.interface: take(try ShellRequest(call), call)
            default: take(try AppRequest(call), call)
            }
        } catch {
            call.refuse(error)
        }
    }

    private func take(_ request: ShellRequest, _ call: IncomingCall) {
        let number = number
        let core = core
        let started = lending.begin {
            let token = core.activity.beginRequest()
            defer { token.end() }
            switch request {
            case .borrowStore:
                do throws(EngineAbsence) {
                    try await core.holder.lend(to: number)
                    call.reply()
                } catch {
                    call.refuse(name: ExtensionStatus.unavailable.errorName, message: error.description)
                }
            case .returnStore:
                if await core.holder.takeBack(from: number) { return call.reply() }
                call.refuse(
                    name: ExtensionStatus.refused.errorName, message: "This client has not borrowed the store.")
            }
        }
        if started == nil {
            call.refuse(name: BusErrorName.limitsExceeded, message: "This client is borrowing the store already.")
        }
    }

    private func take(_ request: AppRequest, _ call: IncomingCall) {
        switch request {
        case .fetchData(let bundle, let item, let type):
            promises.fetch(bundle: bundle, item: item, type: type, call)
        case .register, .unregister:
            call.refuse(
                name: ServiceErrorName.accessDenied,
                message: "A client that sees the whole index answers for no bundle. Connect as an app.")
        }
    }

    func rejoin(_ engine: SearchlightEngine) {}
    func part() {}

    func end() async {
        calls.end()
        promises.cancelAll()
        launcher.cancelAll()
        // A loan that is being made is undone by whoever makes it.
        await core.holder.takeBack(from: number)
    }
}
