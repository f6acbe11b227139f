// SPDX-License-Identifier: Apache-2.0

/// A queue of pending reindex jobs with at most one job per bundle. A pure value type: its owner
/// stores it.
///
/// Requests for the same bundle are merged: item requests are combined, and a request for
/// everything includes them. A request that arrives while the job runs survives the end of the job,
/// even if it is identical. Requests are numbered, and a finished job fulfils only the requests
/// made before it was taken from the queue.
public struct JobQueue: Hashable, Sendable, Codable {
    /// The jobs, sorted by age (oldest first), then by bundle.
    public private(set) var jobs: [Job] = []
    /// The number of requests so far, used to number the next request.
    private var requests = 0

    /// The maximum number of items that can be pending for a bundle by identifier. A request for
    /// more items becomes a request for all items.
    public static let maximumItems = 1000

    /// Creates an empty queue.
    public init() {}

    /// The job of a bundle.
    public subscript(bundle: String) -> Job? { jobs.first { $0.bundle == bundle } }

    /// Adds a job, or merges it into the job of the bundle.
    ///
    /// - Returns: The pending job. A caller that starts the job immediately passes this value to
    ///   ``complete(_:)``.
    @discardableResult
    public mutating func add(_ job: Job) -> Job {
        requests += 1
        let index = jobs.firstIndex { $0.bundle == job.bundle }
        var pending = job
        // Too many items are replaced with a request for everything, so that the list stays
        // bounded.
        let items = index.map { jobs[$0].items.union(job.items) } ?? job.items
        let isTooMuch = items.count > Self.maximumItems
        if isTooMuch { pending.work = .reindexAll }
        if let index {
            let more = pending
            pending = jobs.remove(at: index)
            pending.requested = min(pending.requested, job.requested)
            pending.ask(for: more, request: requests, isTooMuch: isTooMuch)
        } else {
            pending.number(request: requests)
        }
        let place = jobs.firstIndex { ($0.requested, $0.bundle) > (pending.requested, pending.bundle) } ?? jobs.endIndex
        jobs.insert(pending, at: place)
        return pending
    }

    /// Removes the work of a finished job. Requests that arrived after the job started remain.
    ///
    /// - Parameter done: The job as it was in the queue when it was started. For a job that was
    ///   never in a queue, all of its work is considered done.
    public mutating func complete(_ done: Job) {
        guard let index = jobs.firstIndex(where: { $0.bundle == done.bundle }) else { return }
        let isPending = jobs[index].finish(done)
        if !isPending { jobs.remove(at: index) }
    }

    /// Removes the job of a bundle.
    public mutating func remove(bundle: String) { jobs.removeAll { $0.bundle == bundle } }

    /// Records a failure of a bundle's job. The job stays pending, and waits before the next
    /// attempt.
    public mutating func fail(bundle: String, reason: String, now: Double) {
        guard let index = jobs.firstIndex(where: { $0.bundle == bundle }) else { return }
        jobs[index].failures = max(jobs[index].failures, jobs[index].failures &+ 1)
        jobs[index].lastFailure = reason
        jobs[index].notBefore = now + Backoff.delay(afterFailures: jobs[index].failures)
    }

    /// Clears the failures of a bundle's job, so that it need not wait.
    public mutating func forgive(bundle: String) { change(bundle) { $0.forgive() } }

    /// Returns the number of further items that can be requested for a bundle before the request
    /// turns into a request for everything.
    public func room(for bundle: String) -> Int {
        guard let job = self[bundle] else { return Self.maximumItems }
        if case .reindexAll = job.work { return 0 }
        return max(0, Self.maximumItems - job.items.count)
    }

    /// Changes the job of a bundle, if there is one.
    mutating func change(_ bundle: String, _ body: (inout Job) -> Void) {
        guard let index = jobs.firstIndex(where: { $0.bundle == bundle }) else { return }
        body(&jobs[index])
    }

    // MARK: Coding

    private enum CodingKeys: CodingKey { case jobs, requests }

    /// Decodes a queue, including one from before requests were numbered.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let decoded = try container.decode([Job].self, forKey: .jobs)
        let count = try container.decodeIfPresent(Int.self, forKey: .requests) ?? 0
        guard (0...Int.max / 2).contains(count) else {
            throw DecodingError.dataCorruptedError(
                forKey: .requests, in: container, debugDescription: "There cannot have been \(count) requests.")
        }
        requests = count
        if Set(decoded.map(\.bundle)).count == decoded.count {
            jobs = decoded.sorted { ($0.requested, $0.bundle) < ($1.requested, $1.bundle) }
        } else {
            for job in decoded { add(job) }
        }
        for index in jobs.indices { jobs[index].numberIfNeeded() }
    }
}
