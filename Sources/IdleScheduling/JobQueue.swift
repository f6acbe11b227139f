// SPDX-License-Identifier: Apache-2.0

/// The jobs that are owed, at most one for each bundle. A pure value: whoever holds it keeps it.
///
/// Requests for the same bundle melt together: items are united, and a reindex of everything takes them all in. What is
/// asked while a job runs survives the end of that job.
public struct JobQueue: Hashable, Sendable, Codable {
    /// The jobs, the oldest first.
    public private(set) var jobs: [Job] = []

    /// Creates an empty queue.
    public init() {}

    /// The job of a bundle.
    public subscript(bundle: String) -> Job? { jobs.first { $0.bundle == bundle } }

    /// Adds a job, or melts it into the one the bundle has.
    public mutating func add(_ job: Job) {
        guard let index = jobs.firstIndex(where: { $0.bundle == job.bundle }) else {
            jobs.append(job)
            return
        }
        switch (jobs[index].work, job.work) {
        case (.reindexAll, _): break
        case (_, .reindexAll): jobs[index].work = .reindexAll
        case (.reindexItems(let old), .reindexItems(let new)): jobs[index].work = .reindexItems(old.union(new))
        }
        jobs[index].requested = min(jobs[index].requested, job.requested)
    }

    /// Notes that a job was done; what has been added to it since it was taken stays.
    public mutating func complete(_ done: Job) {
        guard let index = jobs.firstIndex(where: { $0.bundle == done.bundle }) else { return }
        switch (jobs[index].work, done.work) {
        case (.reindexAll, .reindexItems): return
        case (.reindexItems(let owed), .reindexItems(let finished)) where !owed.isSubset(of: finished):
            jobs[index].work = .reindexItems(owed.subtracting(finished))
            jobs[index].failures = 0
            jobs[index].lastFailure = nil
            jobs[index].notBefore = nil
        default: jobs.remove(at: index)
        }
    }

    /// Notes that the job of a bundle failed; it stays owed and waits.
    public mutating func fail(bundle: String, reason: String, now: Double) {
        guard let index = jobs.firstIndex(where: { $0.bundle == bundle }) else { return }
        jobs[index].failures += 1
        jobs[index].lastFailure = reason
        jobs[index].notBefore = now + Backoff.delay(afterFailures: jobs[index].failures)
    }
}
