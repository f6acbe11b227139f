// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightEngine
import ServiceMessages
import Synchronization

/// What a program of the user's says that sees the whole index.
final class AdminSession: ClientSession.Conversation {
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

    func receive(_ request: any ClientRequest, _ call: IncomingCall) {
        switch request {
        case let request as AdminRequest: calls.take(request, call)
        case let request as LauncherRequest: launcher.take(request, call)
        case let request as PromiseRequest: promises.take(request, call)
        default: call.refuse(.unknownMethod(call.member))
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
