// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc
import Synchronization

/// What other threads ask of a connection's thread: jobs in order, and a descriptor that wakes it.
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
    }
    private let state = Mutex(State())
    let wake: OwnedDescriptor

    init() throws(BusError) {
        let descriptor = csystemd_event_descriptor()
        guard descriptor >= 0 else { throw .system(operation: "creating an event descriptor", code: errno) }
        wake = OwnedDescriptor(adopting: descriptor)
    }

    /// Hands a job to the thread, or calls `orElse` if the connection has ended.
    func post(_ run: @escaping @Sendable (BusThread) -> Void, orElse: @escaping @Sendable () -> Void) {
        let accepted = state.withLock { state in
            guard !state.isClosed else { return false }
            state.jobs.append(Job(run: run, orElse: orElse))
            return true
        }
        accepted ? signal() : orElse()
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

    private func signal() {
        var one: UInt64 = 1
        _ = write(wake.number, &one, 8)
    }
}
