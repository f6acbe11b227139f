// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine
import Synchronization

/// The service's engine. Many requests share it; it is closed for a repair of the store and when
/// the service shuts down.
///
/// During a repair, requests wait. Their number and waiting time are limited.
final class EngineHolder: Sendable {
    typealias Opening = @Sendable () throws(EngineError) -> SearchlightEngine
    typealias Entrance = Result<SearchlightEngine, EngineUnavailable>
    typealias Waiter = CheckedContinuation<Entrance, Never>

    /// The engine's phase. During a repair it goes from `open` through `draining` and `closed` back
    /// to `open`.
    enum Phase {
        case open(SearchlightEngine)
        /// New users wait. The continuation is resumed when the last user has left.
        case draining(SearchlightEngine, CheckedContinuation<Void, Never>?)
        /// The engine is being closed, is closed for a repair, or is being opened.
        case closed
        /// The engine could not be opened again. A later request may try again.
        case failed(EngineError)
        case stopped
    }
    /// A request to use the engine.
    struct Visitor: Sendable {
        /// The owner, for ``EngineHolder/dismiss(_:)``; `nil` for none.
        var owner: ObjectIdentifier?
        /// `true` if a current user may be waiting for this visitor, for example a reindex for its
        /// delegate's donations. Such a visitor is admitted while draining, as long as there is any
        /// user. Otherwise both would wait for each other.
        var isAwaited = false
        /// `true` if the visitor only reads. Other visitors are rejected while the engine is
        /// read-only; see ``SearchlightEngine/refusal``.
        var isReading = false
    }
    struct State {
        var phase: Phase
        /// The number of current users.
        var users = 0
        var waiters: [UInt64: (owner: ObjectIdentifier?, waiter: Waiter)] = [:]
        var lastWaiter: UInt64 = 0
        var isStopping = false
        /// `true` if the pause after a failed attempt to open the engine is over.
        var mayTryAgain = false

        /// `true` if the engine is being closed or opened, or is closed for a repair.
        var isInPassage: Bool {
            switch phase {
            case .draining, .closed: true
            case .open, .failed, .stopped: false
            }
        }

        /// Admits or rejects a visitor; `nil` if it must wait.
        mutating func enter(_ visitor: Visitor) -> Entrance? {
            switch phase {
            case .draining(let engine, _) where visitor.isAwaited && users > 0:
                users += 1
                return .success(engine)
            case .open(let engine):
                if let refusal = engine.refusal, !visitor.isReading { return .failure(.failed(refusal)) }
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
    /// Called when draining begins, to end work that can be interrupted.
    let onDrain: @Sendable () -> Void
    /// Called before the engine is closed, once it has no users.
    let onClose: @Sendable () -> Void
    /// Called with the engine after it was opened again.
    let onReopen: @Sendable (SearchlightEngine) -> Void
    /// Called with the engine if draining timed out, since users were rejected while it was
    /// draining.
    let onStay: @Sendable (SearchlightEngine) -> Void

    /// Opens the engine. If a repair is rejected and the store cannot be read either, the engine
    /// stays unavailable until the user repairs the store.
    ///
    /// - Throws: The error from opening the engine.
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
        let phase: Phase
        do throws(EngineError) { phase = .open(try opening()) } catch {
            guard error.isRefusedRepair else { throw error }
            phase = .failed(error)
        }
        state = Mutex(State(phase: phase))
    }

    /// The engine, if it is open for changes; for quick operations.
    var current: SearchlightEngine? {
        state.withLock { state in
            if case .open(let engine) = state.phase, engine.refusal == nil { engine } else { nil }
        }
    }

    /// The engine, if it is open for changes or draining; for controlling work in progress.
    var inUse: SearchlightEngine? {
        state.withLock { state in
            switch state.phase {
            case .open(let engine), .draining(let engine, _): engine.refusal == nil ? engine : nil
            case .closed, .failed, .stopped: nil
            }
        }
    }

    /// The rejected repair, because of which the store is only read, or not used at all; `nil` if
    /// no repair was rejected.
    var refusal: EngineError? {
        state.withLock { state in
            switch state.phase {
            case .open(let engine), .draining(let engine, _): engine.refusal
            case .failed(let error): error.isRefusedRepair ? error : nil
            case .closed, .stopped: nil
            }
        }
    }

    /// Uses the engine, which stays open until the closure returns. Waits during a repair.
    ///
    /// - Parameters:
    ///   - visitor: The user of the engine.
    ///   - refusal: Returns the error to throw if the engine is unavailable.
    func use<Value, Failure: Error>(
        _ refusal: (EngineUnavailable) -> Failure, as visitor: Visitor = Visitor(),
        _ body: (SearchlightEngine) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let engine: SearchlightEngine
        do throws(EngineUnavailable) { engine = try await enter(visitor) } catch { throw refusal(error) }
        defer { leave() }
        return try await body(engine)
    }

    /// Uses the engine like ``use(_:as:_:)``, but does not wait for it.
    ///
    /// - Parameter visitor: The user of the engine.
    /// - Returns: The closure's result; `nil` if the engine is unavailable.
    @discardableResult
    func useNow<Value>(
        as visitor: Visitor = Visitor(), _ body: (SearchlightEngine) async -> Value
    ) async -> Value? {
        guard case .success(let engine)? = state.withLock({ $0.enter(visitor) }) else { return nil }
        defer { leave() }
        return await body(engine)
    }

    /// Ends the waiting requests of an owner that has disconnected.
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
        // The engine may have been opened since the first check.
        let entrance: Entrance? = state.withLock { state in
            if let entrance = state.enter(visitor) { return entrance }
            guard state.waiters.count < limits.waitingForRepair else {
                return .failure(.tooMany(limits.waitingForRepair))
            }
            state.waiters[number] = (visitor.owner, waiter)
            return nil
        }
        if let entrance { return waiter.resume(returning: entrance) }
        // If the task was cancelled before the registration, there was no waiter to resume.
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
