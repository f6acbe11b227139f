// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightEngine
import ServiceMessages
import Synchronization

/// What a program of the user's says that sees the whole index.
final class AdminSession: ClientSession.Conversation {
    /// The interfaces that are for shells alone.
    static let interfaces: Set<String> = [
        AdminRequest.performMember.interface, LauncherRequest.interface,
    ]

    private let promises: PromiseDesk
    private let launcher: LauncherHandler
    private let calls: ClientCallSession

    init(link: (any ClientLink)?, core: ServiceCore) {
        promises = PromiseDesk(core, .moment)
        launcher = LauncherHandler(core)
        calls = ClientCallSession(core.calls)
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
            case AdminRequest.performMember.interface: calls.receive(call)
            case LauncherRequest.interface: launcher.take(try LauncherRequest(call), call)
            default: take(try AppRequest(call), call)
            }
        } catch {
            call.refuse(error)
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
    }
}
