// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine

extension EngineHolder {
    /// `true` while ``exclusively(_:)`` closes the engine or runs its closure.
    var isExclusive: Bool {
        state.withLock { state in
            switch state.phase {
            case .draining, .closed: !state.isStopping
            case .open, .failed, .stopped: false
            }
        }
    }

    /// Closes the engine once it has no users, runs a closure with exclusive access to the store,
    /// and opens the engine again.
    ///
    /// - Throws: ``EngineUnavailable``; in that case the closure was not called.
    func exclusively<Value>(_ body: () async -> Value) async throws(EngineUnavailable) -> Value {
        let refusal: EngineUnavailable? = state.withLock { state in
            switch state.phase {
            case .open(let engine):
                state.phase = .draining(engine, nil)
                return nil
            // A repair may fix the reason why the engine could not be opened. There is no engine to
            // close.
            case .failed where !state.isStopping:
                state.phase = .closed
                return nil
            case .draining, .closed: return state.isStopping ? .stopped : .repairing
            case .failed(let error): return .failed(error)
            case .stopped: return .stopped
            }
        }
        if let refusal { throw refusal }
        onDrain()
        let isDrained = await drain(within: limits.drainTime)
        if !isDrained, !state.withLock({ $0.isStopping }) {
            letIn()
            await useNow { onStay($0) }
            throw .inUse(limits.drainTime)
        }
        await closeDrained()
        // If the service was stopped during the wait, this call is responsible for closing the
        // engine.
        guard !state.withLock({ $0.isStopping }) else {
            state.withLock { $0.phase = .stopped }
            throw .stopped
        }
        let value = await body()
        await reopen()
        return value
    }

    /// Closes the engine permanently. New users are rejected immediately; current users get a
    /// limited time to finish.
    ///
    /// - Returns: `true` if all users finished in time.
    func stop() async -> Bool {
        let isOpen = state.withLock { state in
            state.isStopping = true
            if case .open(let engine) = state.phase {
                state.phase = .draining(engine, nil)
                return true
            }
            return false
        }
        refuseWaiters(.stopped)
        // If a call to `exclusively(_:)` is in progress, it closes the engine itself.
        guard isOpen else { return await waitForPassage(within: limits.stopTime) }
        let isDone = await drain(within: limits.stopTime)
        await closeDrained()
        state.withLock { $0.phase = .stopped }
        return isDone
    }

    /// Waits, for a limited time, while the engine is being closed, is closed for a repair, or is
    /// being opened. It polls, since it is only used when the service shuts down.
    ///
    /// - Returns: `true` if the engine has left these phases.
    private func waitForPassage(within limit: Duration) async -> Bool {
        let pause = Duration.milliseconds(5)
        var waited = Duration.zero
        while state.withLock({ $0.isInPassage }) {
            guard waited < limit, (try? await clock.sleep(for: pause)) != nil else { return false }
            waited += pause
        }
        return true
    }

    /// Opens the engine again. The phase is `closed`, so no other call does the same.
    private func reopen() async {
        guard !state.withLock({ $0.isStopping }) else { return state.withLock { $0.phase = .stopped } }
        do throws(EngineError) {
            let engine = try opening()
            guard state.withLock({ !$0.isStopping }) else {
                await engine.close()
                return state.withLock { $0.phase = .stopped }
            }
            state.withLock { $0.phase = .open(engine) }
            if engine.refusal == nil { onReopen(engine) }
            letIn()
        } catch {
            state.withLock { state in
                state.phase = .failed(error)
                state.mayTryAgain = false
            }
            refuseWaiters(.failed(error))
            _ = clock.timer(after: limits.reopenPause) { [self] in state.withLock { $0.mayTryAgain = true } }
        }
    }

    /// If the engine could not be opened, tries again, for a request that needs it: disk space may
    /// have become available.
    func tryAgain() async {
        let tries = state.withLock { state in
            guard case .failed = state.phase, state.mayTryAgain, !state.isStopping else { return false }
            state.phase = .closed
            return true
        }
        if tries { await reopen() }
    }

    /// Ends a draining phase, or continues after the engine was opened again, and resumes the
    /// waiting users.
    private func letIn() {
        let (engine, waiters) = state.withLock { state -> (SearchlightEngine?, [Waiter]) in
            if case .draining(let engine, _) = state.phase, !state.isStopping { state.phase = .open(engine) }
            guard case .open(let engine) = state.phase else { return (nil, []) }
            let waiters = state.waiters.values.map(\.waiter)
            state.waiters = [:]
            state.users += waiters.count
            return (engine, waiters)
        }
        guard let engine else { return }
        for waiter in waiters { waiter.resume(returning: .success(engine)) }
    }

    private func refuseWaiters(_ reason: EngineUnavailable) {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.waiter)
        }
        for waiter in waiters { waiter.resume(returning: .failure(reason)) }
    }

    private func closeDrained() async {
        let engine: SearchlightEngine? = state.withLock { state in
            guard case .draining(let engine, _) = state.phase else { return nil }
            state.phase = .closed
            return engine
        }
        guard let engine else { return }
        onClose()
        await engine.close()
    }

    /// Waits, for a limited time, until the engine has no users.
    ///
    /// - Returns: `true` if it has no users.
    private func drain(within limit: Duration) async -> Bool {
        let timer = clock.timer(after: limit) { [self] in stopWaiting() }
        defer { timer.cancel() }
        await withCheckedContinuation { (waiting: CheckedContinuation<Void, Never>) in
            let isWaiting = state.withLock { state in
                guard state.users > 0, case .draining(let engine, _) = state.phase else { return false }
                state.phase = .draining(engine, waiting)
                return true
            }
            if !isWaiting { waiting.resume() }
        }
        return state.withLock { $0.users == 0 }
    }

    private func stopWaiting() {
        let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard case .draining(let engine, let waiting) = state.phase else { return nil }
            state.phase = .draining(engine, nil)
            return waiting
        }
        waiting?.resume()
    }
}
