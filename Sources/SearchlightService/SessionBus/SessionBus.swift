// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Synchronization

/// The service's connection to the session bus. Problems with the bus are logged, and the service
/// remains available on the socket.
final class SessionBus: Sendable {
    private let core: ServiceCore
    private let senders: BusSenders
    private struct State {
        var bus: MessageBus?
        /// `true` if the connection has ended, or will end soon because the service is leaving the
        /// bus. The connection may end before it is recorded here.
        var isOver = false
        var hasName = false
    }
    private let state = Mutex(State())

    /// The time limit for connecting and requesting the name.
    private static let patience = Duration.seconds(10)

    init(_ core: ServiceCore, _ sessions: Sessions) {
        self.core = core
        senders = BusSenders(core, sessions)
    }

    /// The number of current senders.
    var senderCount: Int { senders.count }

    /// Connects and requests the name; returns after success or failure.
    func join(_ address: String) async {
        let token = core.activity.beginRequest()
        defer { token.end() }
        do throws(BusError) {
            let bus = try MessageBus(
                address: address, name: "session-bus", onCall: { [senders] in senders.receive($0) },
                onDisconnect: { [weak self] in self?.lost($0) })
            state.withLock { state in if !state.isOver { state.bus = bus } }
            senders.attach(bus)
            let timer = core.clock.timer(after: Self.patience) { bus.close() }
            defer { timer.cancel() }
            switch try await bus.requestName(MessageBus.serviceName) {
            case .acquired:
                state.withLock { $0.hasName = true }
                core.log.write(.notice, "On the session bus as \(MessageBus.serviceName).")
            case .taken:
                core.log.write(
                    .warning,
                    """
                    Another service has the name \(MessageBus.serviceName) on the session bus, for example that of another store. \
                    Clients reach this service only by its socket.
                    """)
                leave()
            }
        } catch {
            // `lost(_:)` logs the reason for a disconnect.
            if case .disconnected = error { return }
            core.log.write(.warning, "Not on the session bus. \(error.description)")
            leave()
        }
    }

    private func lost(_ end: BusEnd) {
        senders.endAll()
        let before = state.withLock { state in
            defer { state = State(bus: nil, isOver: true) }
            return state
        }
        guard !before.isOver else { return }
        let place = before.hasName ? "Disconnected from the session bus." : "Not on the session bus."
        core.log.write(.warning, "\(place) \(end.description) The socket still works.")
    }

    /// Releases the name, so that later calls start another service.
    func releaseName() async {
        guard let bus = state.withLock({ $0.bus }) else { return }
        let timer = core.clock.timer(after: Self.patience / 10) { bus.close() }
        defer { timer.cancel() }
        do throws(BusError) { try await bus.releaseName(MessageBus.serviceName) } catch { bus.close() }
    }

    func leave() {
        let bus = state.withLock { state in
            defer { state = State(bus: nil, isOver: true) }
            return state.bus
        }
        senders.endAll()
        bus?.close()
    }
}
