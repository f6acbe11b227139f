// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine

extension EngineHolder {
    /// Closes the engine for a borrower, once nobody uses it.
    ///
    /// - Parameter borrower: A number that ``takeBack(from:)`` names again.
    /// - Throws: ``EngineAbsence``; then nothing is lent.
    func lend(to borrower: UInt64) async throws(EngineAbsence) {
        let refusal: EngineAbsence? = state.withLock { state in
            switch state.phase {
            case .open(let engine):
                state.borrower = borrower
                state.phase = .draining(engine, nil)
                return nil
            // A borrower may mend what keeps it from being opened; there is nothing to close.
            case .failed where !state.isStopping:
                state.borrower = borrower
                state.phase = .closing
                return nil
            case .draining, .closing, .lent, .opening: return state.isStopping ? .stopped : .lent
            case .failed(let error): return .failed(error)
            case .stopped: return .stopped
            }
        }
        if let refusal { throw refusal }
        onDrain()
        guard await drain(within: limits.lendTime) else {
            guard state.withLock({ $0.isStopping }) else {
                letIn()
                await useNow { onStay($0) }
                throw .inUse(limits.lendTime)
            }
            // A stop that came meanwhile has left the closing to this.
            await closeDrained()
            state.withLock { $0.phase = .stopped }
            throw .stopped
        }
        await closeDrained()
        // The borrower may have gone meanwhile; its end left the rest to this.
        let isLent = state.withLock { state in
            let isLent = state.borrower == borrower
            state.phase = isLent ? .lent : .opening
            return isLent
        }
        guard !isLent else { return }
        await reopen()
        throw .cancelled
    }

    /// Takes the store back and opens the engine again.
    ///
    /// - Returns: Whether this borrower had it, or was about to; otherwise nothing is done.
    @discardableResult
    func takeBack(from borrower: UInt64) async -> Bool {
        let (hadIt, reopens) = state.withLock { state -> (Bool, Bool) in
            guard state.borrower == borrower else { return (false, false) }
            state.borrower = nil
            guard case .lent = state.phase else { return (true, false) }
            state.phase = .opening
            return (true, true)
        }
        if reopens { await reopen() }
        return hadIt
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
        guard isOpen else {
            // What is being closed or opened for a borrower is ended by whoever does it.
            let isDone = await passage(within: limits.stopTime)
            // A lent store is the borrower's.
            state.withLock { state in
                if case .lent = state.phase { state.phase = .stopped }
            }
            return isDone
        }
        let isDone = await drain(within: limits.stopTime)
        await closeDrained()
        state.withLock { $0.phase = .stopped }
        return isDone
    }

    /// Waits while the engine is on its way to a borrower or back, but not longer than that; looks now and then, as that
    /// is for the end of a service only.
    ///
    /// - Returns: Whether it has arrived.
    private func passage(within limit: Duration) async -> Bool {
        let pause = Duration.milliseconds(5)
        var waited = Duration.zero
        while state.withLock({ $0.isOnItsWay }) {
            guard waited < limit, (try? await clock.sleep(for: pause)) != nil else { return false }
            waited += pause
        }
        return true
    }

    /// Opens the engine again; the phase is `opening`, so nobody else does.
    private func reopen() async {
        guard !state.withLock({ $0.isStopping }) else { return state.withLock { $0.phase = .stopped } }
        do throws(EngineError) {
            let engine = try await openAgain()
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
            Task { [clock, limits] in
                try? await clock.sleep(for: limits.reopenPause)
                state.withLock { $0.mayTryAgain = true }
            }
        }
    }

    /// Has an engine opened once more that could not be, for who wants to use it: a full disk, or one that could only be read,
    /// may be mended.
    func tryAgain() async {
        let tries = state.withLock { state in
            guard case .failed = state.phase, state.mayTryAgain, !state.isStopping else { return false }
            state.phase = .opening
            return true
        }
        if tries { await reopen() }
    }

    /// Opens the engine. The connection of a borrower that dies may be closed before its lock is given back, so a lock that
    /// is still there is waited for, for about five seconds.
    private func openAgain() async throws(EngineError) -> SearchlightEngine {
        var pause = Duration.milliseconds(10)
        while true {
            do throws(EngineError) { return try opening() } catch {
                guard case .storeInUse = error, pause < .seconds(5), !state.withLock({ $0.isStopping }) else {
                    throw error
                }
            }
            try? await clock.sleep(for: pause)
            pause *= 2
        }
    }

    /// Lets those in who wait; what was being drained is open again.
    private func letIn() {
        let (engine, waiters) = state.withLock { state -> (SearchlightEngine?, [Waiter]) in
            if case .draining(let engine, _) = state.phase, !state.isStopping {
                state.phase = .open(engine)
                state.borrower = nil
            }
            guard case .open(let engine) = state.phase else { return (nil, []) }
            let waiters = state.waiters.values.map(\.waiter)
            state.waiters = [:]
            state.users += waiters.count
            return (engine, waiters)
        }
        guard let engine else { return }
        for waiter in waiters { waiter.resume(returning: .success(engine)) }
    }

    private func refuseWaiters(_ absence: EngineAbsence) {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.waiter)
        }
        for waiter in waiters { waiter.resume(returning: .failure(absence)) }
    }

    private func closeDrained() async {
        let engine: SearchlightEngine? = state.withLock { state in
            guard case .draining(let engine, _) = state.phase else { return nil }
            state.phase = .closing
            return engine
        }
        guard let engine else { return }
        onClose()
        await engine.close()
    }

    /// Waits until nobody uses the engine, but not longer than that.
    ///
    /// - Returns: Whether nobody does.
    private func drain(within limit: Duration) async -> Bool {
        let timer = Task { [clock] in
            try await clock.sleep(for: limit)
            stopWaiting()
        }
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
