// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightEngine
import ServiceMessages
import Synchronization

/// The session of a program run by the user, with access to the whole index.
final class AdminSession: ClientSession.Conversation {
    private let promises: PromiseHandler
    private let launcher: LauncherHandler
    private let desktop: DesktopSearcher
    private let shellSearch: ShellSearchHandler
    private let runner: RunnerHandler
    private let calls: ClientCallSession

    init(link: (any ClientLink)?, core: ServiceCore) {
        promises = PromiseHandler(core, .moment)
        launcher = LauncherHandler(core)
        desktop = DesktopSearcher(core)
        shellSearch = ShellSearchHandler(desktop)
        let bus = (link as? SenderLink)?.bus
        runner = RunnerHandler(desktop, bus.map { DesktopPrograms(bus: $0, clock: core.clock) })
        calls = ClientCallSession(core.calls)
        // Progress is only sent over the socket, not over the session bus.
        if let connection = link as? BusConnection { calls.attach(connection) }
    }

    func receive(_ request: any ClientRequest, _ call: IncomingCall) {
        switch request {
        case let request as AdminRequest: calls.take(request, call)
        case let request as LauncherRequest: launcher.take(request, call)
        case let request as ShellSearchRequest: shellSearch.take(request, call)
        case let request as RunnerRequest: runner.take(request, call)
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
        desktop.cancelAll()
    }
}
