// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization
import SystemSupport

/// The queue of jobs for a connection's thread, with an eventfd that wakes the thread.
///
/// While the thread waits for its peer, a caller runs its job itself, because most jobs take less
/// time than waking a thread.
final class BusMailbox: Sendable {
    /// A job for the thread, and its alternative if the connection has ended. Exactly one of the
    /// two is called, once.
    struct Job: Sendable {
        let run: @Sendable (BusThread) -> Void
        let orElse: @Sendable () -> Void
    }
    private struct State {
        var jobs: [Job] = []
        var isClosed = false
        /// The thread while it waits for its peer, when callers may run jobs themselves.
        var resting: BusThread?
    }
    /// The outcome of a post.
    private enum Way {
        case refused
        case queued
        /// The caller runs the job itself and holds the lock.
        case direct(BusThread)
    }
    private let state = Mutex(State())
    private let turn = BusTurn()
    let wake: OwnedDescriptor

    init() throws(BusError) {
        let descriptor = csystem_event_descriptor()
        guard descriptor >= 0 else { throw .system(operation: "creating an event descriptor", code: errno) }
        wake = OwnedDescriptor(adopting: descriptor)
    }

    /// Runs a job, or queues it if the thread is busy, or calls `orElse` if the connection has
    /// ended. Jobs run one at a time, in the order in which they were posted.
    func post(_ run: @escaping @Sendable (BusThread) -> Void, orElse: @escaping @Sendable () -> Void) {
        let way = state.withLock { state -> Way in
            guard !state.isClosed else { return .refused }
            // If the queue is empty, the job can run on the posting thread. Otherwise earlier jobs
            // must run first.
            if state.jobs.isEmpty, let thread = state.resting, turn.tryTake() { return .direct(thread) }
            state.jobs.append(Job(run: run, orElse: orElse))
            return .queued
        }
        switch way {
        case .refused: orElse()
        case .queued: signal()
        case .direct(let thread):
            run(thread)
            let mayRest = thread.mayRest
            turn.give()
            // The thread must wait for the socket to become writable, or for the end of the
            // connection, so it is woken.
            if !mayRest { signal() }
        }
    }

    /// Takes the lock as the thread that serves the connection.
    func begin() { turn.take() }

    /// Releases the lock when the thread ends and no longer accesses the connection.
    func end() { turn.give() }

    /// Waits for events. If `thread` is given, callers may run jobs on its state during the wait.
    func rest(lending thread: BusThread?, _ wait: () -> Void) {
        guard let thread else { return wait() }
        let isFree = state.withLock { state in
            guard state.jobs.isEmpty else { return false }
            state.resting = thread
            return true
        }
        guard isFree else { return wait() }
        turn.give()
        wait()
        // Cleared before the lock is taken, so that callers queue their jobs from now on. A pthread
        // mutex is not fair: callers that post without pause could keep the lock from the thread.
        state.withLock { $0.resting = nil }
        turn.take()
    }

    /// Accepts no more jobs; the thread will end.
    func close() {
        state.withLock { $0.isClosed = true }
        signal()
    }

    /// Closes the mailbox and calls `orElse` for the jobs that did not run.
    func abandon() {
        close()
        for job in takeJobs() { job.orElse() }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Resets the event descriptor and removes the queued jobs.
    ///
    /// - Parameter isTime: `false` to leave the jobs in the queue.
    func takeJobs(only isTime: Bool = true) -> [Job] {
        var count: UInt64 = 0
        _ = read(wake.number, &count, 8)
        guard isTime else { return [] }
        return state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    /// Wakes the thread.
    func signal() {
        var one: UInt64 = 1
        _ = write(wake.number, &one, 8)
    }
}
