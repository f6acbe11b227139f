// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine

extension EngineHolder {
    /// Does something that needs the store alone: closes the engine once nobody uses it, and opens it again afterwards.
    ///
    /// - Throws: ``EngineUnavailable``; then the body was not called.
    func exclusively<Value>(_ body: () async -> Value) async throws(EngineUnavailable) -> Value {
        let refusal: EngineUnavailable? = state.withLock { state in
            switch state.phase {
            case .open(let engine):
                state.phase = .draining(engine, nil)
                return nil
            // A repair may fix what keeps it from being opened; there is nothing to close.
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
        // A stop that came during the wait has left the closing to this.
        guard !state.withLock({ $0.isStopping }) else {
            state.withLock { $0.phase = .stopped }
            throw .stopped
        }
        let value = await body()
        await reopen()
        return value
    }

    /// Closes the engine for good: at once for those who want to begin, and for those who use it after a bounded time.
    ///
    /// - Returns: Whether all who used it were done.
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
        // What needs the store alone ends by itself.
        guard isOpen else { return await waitForPassage(within: limits.stopTime) }
        let isDone = await drain(within: limits.stopTime)
        await closeDrained()
        state.withLock { $0.phase = .stopped }
        return isDone
    }

    /// Waits while the engine is being closed or is closed for somebody, for a bounded time; checks now and then, as that is for
    /// the end of a service only.
    ///
    /// - Returns: Whether that is over.
    private func waitForPassage(within limit: Duration) async -> Bool {
        let pause = Duration.milliseconds(5)
        var waited = Duration.zero
        while state.withLock({ $0.isInPassage }) {
            guard waited < limit, (try? await clock.sleep(for: pause)) != nil else { return false }
            waited += pause
        }
        return true
    }

    /// Opens the engine again; the phase is `closed`, so nobody else does.
    private func reopen() async {
        guard !state.withLock({ $0.isStopping }) else { return state.withLock { $0.phase = .stopped } }
        do throws(EngineError) {
            let engine = try opening()
            guard state.withLock({ !$0.isStopping }) else {
                await engine.close()
                return state.withLock { $0.phase = .stopped }
            }
            state.withLock { $0.phase = .open(engine) }
            onReopen(engine)
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

    /// Opens an engine that could not be opened once more, for a request that wants to use it: the disk may have room again.
    func tryAgain() async {
        let tries = state.withLock { state in
            guard case .failed = state.phase, state.mayTryAgain, !state.isStopping else { return false }
            state.phase = .closed
            return true
        }
        if tries { await reopen() }
    }

    /// Lets those in who wait; what was being drained is open again.
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

    /// Waits until nobody uses the engine, for a bounded time.
    ///
    /// - Returns: Whether nobody does.
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
