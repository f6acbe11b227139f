// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine
import Synchronization

/// The one engine of the service: used by many, closed for a repair of the store and at the end.
///
/// During a repair, requests wait, up to a number and a time.
final class EngineHolder: Sendable {
    typealias Opening = @Sendable () throws(EngineError) -> SearchlightEngine
    typealias Entrance = Result<SearchlightEngine, EngineUnavailable>
    typealias Waiter = CheckedContinuation<Entrance, Never>

    /// The state of the engine. For a repair it goes from `open` over `draining` and `closed` back to `open`.
    enum Phase {
        case open(SearchlightEngine)
        /// Nobody begins to use it any more; the continuation is resumed when the last has ended.
        case draining(SearchlightEngine, CheckedContinuation<Void, Never>?)
        /// It is being closed, is closed for a repair, or is being opened.
        case closed
        /// It could not be opened again; who asks next may have that tried once more.
        case failed(EngineError)
        case stopped
    }
    /// Who wants to use the engine.
    struct Visitor: Sendable {
        /// Whose waiting ``EngineHolder/dismiss(_:)`` ends; `nil` for nobody's.
        var owner: ObjectIdentifier?
        /// Whether one who uses the engine may be waiting for this one: a reindex for what its delegate donates. Then it is
        /// let in as long as anybody is, or the two would wait for each other.
        var isAwaited = false
    }
    struct State {
        var phase: Phase
        /// How many use it.
        var users = 0
        var waiters: [UInt64: (owner: ObjectIdentifier?, waiter: Waiter)] = [:]
        var lastWaiter: UInt64 = 0
        var isStopping = false
        /// Whether one that could not be opened again was let be for long enough.
        var mayTryAgain = false

        /// Whether it is being closed or opened, or is closed for a repair.
        var isInPassage: Bool {
            switch phase {
            case .draining, .closed: true
            case .open, .failed, .stopped: false
            }
        }

        /// What becomes of somebody who wants to use the engine; `nil` to wait.
        mutating func enter(_ visitor: Visitor) -> Entrance? {
            switch phase {
            case .draining(let engine, _) where visitor.isAwaited && users > 0:
                users += 1
                return .success(engine)
            case .open(let engine):
                users += 1
                return .success(engine)
            case .failed(let error): return .failure(.failed(error))
            case .stopped: return .failure(.stopped)
            case .draining, .closed: return isStopping ? .failure(.stopped) : nil
            }
        }
    }
    let state: Mutex<State>
    let opening: Opening
    let limits: ServiceLimits
    let clock: any Clock<Duration>
    /// Called when nobody is to begin to use the engine any more, since it is to be closed: what can be cut short is.
    let onDrain: @Sendable () -> Void
    /// Called before the engine is closed, once nobody uses it.
    let onClose: @Sendable () -> Void
    /// Called with an engine that was opened again.
    let onReopen: @Sendable (SearchlightEngine) -> Void
    /// Called with the engine if it could not be drained; who looked for it meanwhile found none.
    let onStay: @Sendable (SearchlightEngine) -> Void

    /// Opens the engine.
    ///
    /// - Throws: What the opening throws.
    init(
        _ limits: ServiceLimits, clock: any Clock<Duration>, opening: @escaping Opening,
        onDrain: @escaping @Sendable () -> Void = {}, onClose: @escaping @Sendable () -> Void = {},
        onReopen: @escaping @Sendable (SearchlightEngine) -> Void = { _ in },
        onStay: @escaping @Sendable (SearchlightEngine) -> Void = { _ in }
    ) throws(EngineError) {
        self.opening = opening
        self.limits = limits
        self.clock = clock
        self.onDrain = onDrain
        self.onClose = onClose
        self.onReopen = onReopen
        self.onStay = onStay
        state = Mutex(State(phase: .open(try opening())))
    }

    /// The engine, if it is there now; for what takes no time.
    var current: SearchlightEngine? {
        state.withLock { state in
            if case .open(let engine) = state.phase { engine } else { nil }
        }
    }

    /// The engine, also while it is waited for those who use it; for who steers what is under way.
    var inUse: SearchlightEngine? {
        state.withLock { state in
            switch state.phase {
            case .open(let engine), .draining(let engine, _): engine
            case .closed, .failed, .stopped: nil
            }
        }
    }

    /// Uses the engine; it is not closed before the body returns. Waits during a repair.
    ///
    /// - Parameters:
    ///   - visitor: Who wants to.
    ///   - refusal: What to throw when it cannot be used.
    func use<Value, Failure: Error>(
        _ refusal: (EngineUnavailable) -> Failure, as visitor: Visitor = Visitor(),
        _ body: (SearchlightEngine) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let engine: SearchlightEngine
        do throws(EngineUnavailable) { engine = try await enter(visitor) } catch { throw refusal(error) }
        defer { leave() }
        return try await body(engine)
    }

    /// Uses the engine if it is there now, as ``use(_:as:_:)`` does; for who has something better to do than to wait for it.
    ///
    /// - Parameter visitor: Who wants to.
    /// - Returns: `nil` if it is not there.
    @discardableResult
    func useNow<Value>(
        as visitor: Visitor = Visitor(), _ body: (SearchlightEngine) async -> Value
    ) async -> Value? {
        guard case .success(let engine)? = state.withLock({ $0.enter(visitor) }) else { return nil }
        defer { leave() }
        return await body(engine)
    }

    /// Ends the waiting of an owner that is gone.
    func dismiss(_ owner: ObjectIdentifier) {
        let dismissed = state.withLock { state in
            let numbers = state.waiters.filter { $0.value.owner == owner }.keys
            return numbers.compactMap { state.waiters.removeValue(forKey: $0)?.waiter }
        }
        for waiter in dismissed { waiter.resume(returning: .failure(.cancelled)) }
    }

    private func enter(_ visitor: Visitor) async throws(EngineUnavailable) -> SearchlightEngine {
        await tryAgain()
        let (entrance, number) = state.withLock { state in
            state.lastWaiter += 1
            return (state.enter(visitor), state.lastWaiter)
        }
        if let entrance { return try entrance.get() }
        let timer = clock.timer(after: limits.repairTime) { [self] in
            resume(number, .failure(.tooLong(limits.repairTime)))
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in wait(number, visitor, waiter) }
        } onCancel: {
            resume(number, .failure(.cancelled))
        }.get()
    }

    private func wait(_ number: UInt64, _ visitor: Visitor, _ waiter: Waiter) {
        // It may have come back since it was looked at.
        let entrance: Entrance? = state.withLock { state in
            if let entrance = state.enter(visitor) { return entrance }
            guard state.waiters.count < limits.waitingForRepair else {
                return .failure(.tooMany(limits.waitingForRepair))
            }
            state.waiters[number] = (visitor.owner, waiter)
            return nil
        }
        if let entrance { return waiter.resume(returning: entrance) }
        // A cancellation before this line found nobody waiting.
        if Task.isCancelled { resume(number, .failure(.cancelled)) }
    }

    private func resume(_ number: UInt64, _ entrance: Entrance) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.waiter.resume(returning: entrance)
    }

    private func leave() {
        let drained: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.users -= 1
            guard state.users == 0, case .draining(let engine, let waiting) = state.phase else { return nil }
            state.phase = .draining(engine, nil)
            return waiting
        }
        drained?.resume()
    }
}
