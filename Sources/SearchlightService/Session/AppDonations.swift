// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import SearchIndex
import SearchlightEngine
import ServiceMessages
import Synchronization

/// What an app donates: in order, within the bounds of its connection and of the service.
final class AppDonations: Sendable {
    let intake: DonationIntake
    private let bundle: String
    private let core: ServiceCore
    private let held: FlowControl.Share
    private let connection: DonationOrder.Connection
    private let arrivals: Arrivals
    private let waits: RoomWaits

    /// What one request costs besides its bytes.
    private static let overhead = 512

    init(bundle: String, link: (any ClientLink)?, registration: DelegateRegistration, core: ServiceCore) {
        self.bundle = bundle
        self.core = core
        let (held, arrivals, waits) = (FlowControl.Share(of: core.flow), Arrivals(), RoomWaits())
        (self.held, self.arrivals, self.waits) = (held, arrivals, waits)
        let connection = core.donationOrder.connect(bundle)
        self.connection = connection
        intake = DonationIntake { request throws(BusError) in
            let arrival = arrivals.next()
            let bytes = request.approximateBytes
            let token = core.activity.beginRequest()
            defer {
                token.end()
                held.give(Self.size(of: request))
            }
            let visitor = EngineHolder.Visitor(
                owner: ObjectIdentifier(held), isAwaited: registration.state.withLock { $0.token != nil })
            let refusal: (EngineUnavailable) -> BusError = { absence in
                // Not refused: what is not answered is sent again, to the service that comes after this one.
                if case .stopped = absence { link?.close() }
                return BusError.refused(.unavailable, absence.description)
            }
            var terms = DonationTerms()
            terms.waitsForRoom = false
            // What waits for all that is pending holds up no other large one.
            terms.beforeLongWait = { core.flow.pause(request.byteCount) }
            terms.afterLongWait = { await core.flow.resume(request.byteCount) }
            terms.isWanted = {
                guard !held.isOver else { return false }
                guard connection.accept(since: arrival, isGone: { link?.hasHungUp ?? false }) else {
                    // Nor what it sent after that.
                    held.end()
                    return false
                }
                return true
            }
            return try await core.holder.use(refusal, as: visitor) { (engine) throws(BusError) in
                do throws(BusError) {
                    while true {
                        if request.isChange { try await Self.waitForRoom(bundle, bytes, engine, core, waits, arrivals) }
                        // Its successor may have begun while this one waited.
                        guard !held.isOver else { throw refusal(.cancelled) }
                        let answer = try await core.flow.keeping(request.byteCount) {
                            () throws(BusError) -> [BusValue]? in
                            guard !held.isOver else { throw refusal(.cancelled) }
                            // Others may have taken the room: that wait must hold up nobody.
                            guard !request.isChange || engine.hasRoom(for: bundle, bytes: bytes) else { return nil }
                            return try await engine.receiver(for: registration.donor, terms: terms)
                                .answer(request, from: bundle)
                        }
                        if let answer { return answer }
                    }
                } catch {
                    throw held.isOver ? refusal(.cancelled) : error
                }
            }
        }
    }

    /// Waits until the bundle may donate. Meanwhile its calls keep no room for messages, which others may need.
    private static func waitForRoom(
        _ bundle: String, _ bytes: Int, _ engine: SearchlightEngine, _ core: ServiceCore, _ waits: RoomWaits,
        _ arrivals: Arrivals
    ) async throws(BusError) {
        guard !engine.hasRoom(for: bundle, bytes: bytes) else { return }
        arrivals.setWaiting(true)
        defer { arrivals.setWaiting(false) }
        try await core.flow.waiting(at: .store) { () throws(BusError) in
            try await waits.begin { () throws(BusError) in
                try await engine.waitForRoom(for: bundle, bytes: bytes)
            }.value.get()
        }
    }

    func take(_ request: IndexRequest, _ call: IncomingCall) {
        let size = Self.size(of: request)
        guard held.take(size) else {
            return call.refuse(
                name: BusErrorName.limitsExceeded,
                message: """
                    Donations of all apps that wait to be kept have more than \(core.flow.limit) bytes. Wait for \
                    completions.
                    """)
        }
        // The request has the bytes; the call would hold the whole message until it is answered.
        call.releaseArguments()
        arrivals.add(connection.now, call)
        if !intake.take(request, call) {
            core.flow.noteRejection()
            arrivals.removeLast()
            held.give(size)
        }
    }

    /// Decides whether a large call may be read now. What would wait for room in the store is not even read, so that it keeps no
    /// room for messages from others.
    ///
    /// - Parameter onOpen: See ``BusConnection/LargeCallGate``.
    func mayRead(onOpen: @escaping @Sendable (Bool) -> Void) -> Bool {
        guard let engine = core.holder.current, !engine.hasRoom(for: bundle, bytes: .max) else { return true }
        waits.begin { [bundle, core] () throws(BusError) in
            do throws(BusError) {
                try await core.flow.waiting(at: .store) { () throws(BusError) in
                    try await engine.waitForRoom(for: bundle, bytes: .max)
                }
                onOpen(false)
            } catch {
                // The client is to be told why.
                onOpen(true)
            }
        }
        return false
    }

    private static func size(of request: IndexRequest) -> Int { request.byteCount + overhead }

    /// Drops what waits, and returns when nothing is being kept any more.
    func end() async {
        held.end()
        waits.endAll()
        core.holder.dismiss(ObjectIdentifier(held))
        await intake.drain()
        connection.end()
        held.giveAll()
    }
}

extension IndexRequest {
    /// Whether it changes anything, rather than asking.
    fileprivate var isChange: Bool {
        if case .commit = self { true } else { false }
    }
}

/// The requests of one connection that wait to be kept, oldest first: when they came, and their calls.
private final class Arrivals: Sendable {
    private struct State {
        var line: [(moment: UInt64, call: IncomingCall)] = []
        /// The call of the one that is being kept.
        var current: IncomingCall?
        var isWaiting = false
    }
    private let state = Mutex(State())

    func add(_ moment: UInt64, _ call: IncomingCall) {
        let isWaiting = state.withLock { state in
            state.line.append((moment, call))
            return state.isWaiting
        }
        if isWaiting { call.releaseRoom() }
    }

    /// Forgets the last one, which was refused.
    func removeLast() { _ = state.withLock { $0.line.popLast() } }

    /// Sets whether the oldest one waits for room in the store, which may take long.
    func setWaiting(_ isWaiting: Bool) {
        let calls = state.withLock { state in
            state.isWaiting = isWaiting
            return isWaiting ? state.line.map(\.call) + [state.current].compactMap(\.self) : []
        }
        for call in calls { call.releaseRoom() }
    }

    /// Takes the next out of the line, to be kept.
    func next() -> UInt64 {
        let (moment, previous) = state.withLock { state in
            let first = state.line.isEmpty ? nil : state.line.removeFirst()
            defer { state.current = first?.call }
            return (first?.moment ?? 0, state.current)
        }
        // What a call does when it goes is not done with the lock held.
        withExtendedLifetime(previous) {}
        return moment
    }
}
