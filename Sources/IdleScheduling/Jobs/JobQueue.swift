// SPDX-License-Identifier: Apache-2.0

/// The jobs that are owed, at most one for each bundle. A pure value: whoever holds it keeps it.
///
/// Requests for the same bundle melt together: items are united, and a reindex of everything takes them all in. What is
/// asked while a job runs survives the end of that job, also when it is the same again: requests are numbered, and a job
/// that ends has done only what was asked before it was taken from the queue.
public struct JobQueue: Hashable, Sendable, Codable {
    /// The jobs, the oldest first; of the same age by bundle.
    public private(set) var jobs: [Job] = []
    /// How many requests there have been; each has its number from here.
    private var requests = 0

    /// The most items that a bundle owes one by one; whoever asks for more asks for everything.
    public static let maximumItems = 1000

    /// Creates an empty queue.
    public init() {}

    /// The job of a bundle.
    public subscript(bundle: String) -> Job? { jobs.first { $0.bundle == bundle } }

    /// Adds a job, or melts it into the one the bundle has.
    ///
    /// - Returns: The job that is owed now. Who begins it at once hands this to ``complete(_:)``.
    @discardableResult
    public mutating func add(_ job: Job) -> Job {
        requests += 1
        let index = jobs.firstIndex { $0.bundle == job.bundle }
        var owed = job
        // To ask for everything costs less than to keep a list without end.
        let items = index.map { jobs[$0].items.union(job.items) } ?? job.items
        let isTooMuch = items.count > Self.maximumItems
        if isTooMuch { owed.work = .reindexAll }
        if let index {
            let more = owed
            owed = jobs.remove(at: index)
            owed.requested = min(owed.requested, job.requested)
            owed.ask(for: more, request: requests, isTooMuch: isTooMuch)
        } else {
            owed.number(request: requests)
        }
        let place = jobs.firstIndex { ($0.requested, $0.bundle) > (owed.requested, owed.bundle) } ?? jobs.endIndex
        jobs.insert(owed, at: place)
        return owed
    }

    /// Notes that a job was done; what has been asked since it was taken from the queue stays.
    ///
    /// - Parameter done: As it was in the queue when it was begun. One that never was there, but was made by hand,
    ///   counts as done with everything its work covers.
    public mutating func complete(_ done: Job) {
        guard let index = jobs.firstIndex(where: { $0.bundle == done.bundle }) else { return }
        let isOwed = jobs[index].finish(done)
        if !isOwed { jobs.remove(at: index) }
    }

    /// Forgets the job of a bundle.
    public mutating func remove(bundle: String) { jobs.removeAll { $0.bundle == bundle } }

    /// Notes that the job of a bundle failed; it stays owed and waits.
    public mutating func fail(bundle: String, reason: String, now: Double) {
        guard let index = jobs.firstIndex(where: { $0.bundle == bundle }) else { return }
        jobs[index].failures = max(jobs[index].failures, jobs[index].failures &+ 1)
        jobs[index].lastFailure = reason
        jobs[index].notBefore = now + Backoff.delay(afterFailures: jobs[index].failures)
    }

    /// Forgets that the job of a bundle failed: it need not wait any more.
    public mutating func forgive(bundle: String) { change(bundle) { $0.forgive() } }

    /// How many items a bundle may be asked for more, before the list becomes everything.
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

    /// Reads a queue; one that was written before requests were numbered, too.
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
