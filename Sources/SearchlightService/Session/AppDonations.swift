// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import SearchIndex
import SearchlightEngine
import ServiceMessages
import Synchronization

/// The donations over one connection: processed in order, within the limits of the connection and
/// of the service.
final class AppDonations: Sendable {
    let intake: DonationIntake
    private let bundle: String
    private let core: ServiceCore
    private let held: FlowControl.Share
    private let connection: DonationOrder.Connection
    private let arrivals: Arrivals
    private let waits: SpaceWaiters

    /// The fixed cost of a request in bytes, in addition to its content.
    private static let overhead = 512

    init(bundle: String, link: (any ClientLink)?, registration: DelegateRegistration, core: ServiceCore) {
        self.bundle = bundle
        self.core = core
        let (held, arrivals, waits) = (FlowControl.Share(of: core.flow), Arrivals(), SpaceWaiters())
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
                // The connection is closed without a reply, so that the client sends the donation
                // again to the next service.
                if case .stopped = absence { link?.close() }
                return BusError.refused(.unavailable, absence.description)
            }
            var terms = DonationTerms()
            terms.waitsForRoom = false
            // A donation that waits for all pending ones must not block other large donations.
            terms.beforeLongWait = { core.flow.pause(request.byteCount) }
            terms.afterLongWait = { await core.flow.resume(request.byteCount) }
            terms.isWanted = {
                guard !held.isOver else { return false }
                guard connection.accept(since: arrival, isGone: { link?.hasHungUp ?? false }) else {
                    // Later donations over this connection are dropped too.
                    held.end()
                    return false
                }
                return true
            }
            return try await core.holder.use(refusal, as: visitor) { (engine) throws(BusError) in
                do throws(BusError) {
                    while true {
                        if request.isChange { try await Self.waitForRoom(bundle, bytes, engine, core, waits, arrivals) }
                        // The app's next connection may have taken over during the wait.
                        guard !held.isOver else { throw refusal(.cancelled) }
                        let answer = try await core.flow.keeping(request.byteCount) {
                            () throws(BusError) -> [BusValue]? in
                            guard !held.isOver else { throw refusal(.cancelled) }
                            // Other donations may have used up the room. A wait at this point would
                            // block all large donations, so the wait is repeated outside.
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

    /// Waits until the store has room for the bundle. During the wait, the bundle's calls give back
    /// their share of the message budget, which other clients may need.
    private static func waitForRoom(
        _ bundle: String, _ bytes: Int, _ engine: SearchlightEngine, _ core: ServiceCore, _ waits: SpaceWaiters,
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
                    The pending donations of all apps have more than \(core.flow.limit) bytes. Wait for \
                    completions.
                    """)
        }
        // The request has its own copy of the bytes; the call would keep the whole message until
        // its reply.
        call.releaseArguments()
        arrivals.add(connection.now, call)
        if !intake.take(request, call) {
            core.flow.noteRejection()
            arrivals.removeLast()
            held.give(size)
        }
    }

    /// Determines whether a large call may be read now. If it would wait for room in the store, it
    /// is not read, so that it takes no share of the message budget.
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
                // The call is read, so that the client receives the error.
                onOpen(true)
            }
        }
        return false
    }

    private static func size(of request: IndexRequest) -> Int { request.byteCount + overhead }

    /// Drops waiting donations, and returns when no donation is in progress.
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
    /// `true` if the request changes the index.
    fileprivate var isChange: Bool {
        if case .commit = self { true } else { false }
    }
}

/// One connection's waiting requests, oldest first, each with its arrival moment and call.
private final class Arrivals: Sendable {
    private struct State {
        var line: [(moment: UInt64, call: IncomingCall)] = []
        /// The call of the donation in progress.
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

    /// Removes the last request, which was rejected.
    func removeLast() { _ = state.withLock { $0.line.popLast() } }

    /// Records whether the oldest request is waiting for room in the store, which may take long.
    func setWaiting(_ isWaiting: Bool) {
        let calls = state.withLock { state in
            state.isWaiting = isWaiting
            return isWaiting ? state.line.map(\.call) + [state.current].compactMap(\.self) : []
        }
        for call in calls { call.releaseRoom() }
    }

    /// Removes the oldest request from the queue, to be processed.
    func next() -> UInt64 {
        let (moment, previous) = state.withLock { state in
            let first = state.line.isEmpty ? nil : state.line.removeFirst()
            defer { state.current = first?.call }
            return (first?.moment ?? 0, state.current)
        }
        // Keeps the call alive until the lock is released, since the call's deinitializer may run
        // other code.
        withExtendedLifetime(previous) {}
        return moment
    }
}
