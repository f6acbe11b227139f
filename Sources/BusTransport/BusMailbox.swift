// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization
import SystemSupport

/// What other threads ask of a connection's thread: jobs in order, and a descriptor that wakes it.
///
/// While the thread waits for its peer, whoever comes with a job does it at once, in its place: waking a thread takes longer
/// than most jobs do.
final class BusMailbox: Sendable {
    /// Something to do on the thread, and what to do instead when the connection has ended before. One of the two is
    /// called, once.
    struct Job: Sendable {
        let run: @Sendable (BusThread) -> Void
        let orElse: @Sendable () -> Void
    }
    private struct State {
        var jobs: [Job] = []
        var isClosed = false
        /// The thread, while it waits for its peer and others may do their jobs themselves.
        var resting: BusThread?
    }
    /// What becomes of a job.
    private enum Way {
        case refused
        case queued
        /// By whoever posts it, who has the turn.
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

    /// Does a job, or hands it to the thread if that is busy; or calls `orElse` if the connection has ended. Jobs are done one
    /// at a time, in the order in which they come.
    func post(_ run: @escaping @Sendable (BusThread) -> Void, orElse: @escaping @Sendable () -> Void) {
        let way = state.withLock { state -> Way in
            guard !state.isClosed else { return .refused }
            // Never past somebody who waits.
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
            // The thread does not know yet that it has to wait until the peer reads, or that the connection has ended.
            if !mayRest { signal() }
        }
    }

    /// Begins to be the thread that serves the connection.
    func begin() { turn.take() }

    /// Ends that; nobody will touch the connection any more.
    func end() { turn.give() }

    /// Waits for something, during which others may do their jobs themselves if `lending`.
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
        // First, so that those who send without pause queue up behind it: who waits for the turn has no place in a line.
        state.withLock { $0.resting = nil }
        turn.take()
    }

    /// Takes no more jobs; the thread will end.
    func close() {
        state.withLock { $0.isClosed = true }
        signal()
    }

    /// Closes, and gives up on the jobs that were not done.
    func abandon() {
        close()
        for job in takeJobs() { job.orElse() }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Takes note that the thread is awake, and takes the jobs, unless their time has not come.
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
