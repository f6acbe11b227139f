// SPDX-License-Identifier: Apache-2.0

extension WorkerConfiguration {
    /// The time limits, and the maximum numbers of workers. A sign of life is a reply, a donation,
    /// a deletion, a log message, a printed line, or a progress report.
    public struct Limits: Sendable {
        /// The limit for loading the library and creating the extension.
        public var load: Duration = .seconds(5)
        /// The limit until the first sign of life after a request.
        public var firstSign: Duration = .seconds(5)
        /// The limit between two signs of life.
        public var progress: Duration = .seconds(10)
        /// The total limit for a promise or preview, which the user waits for.
        public var answer: Duration = .seconds(60)
        /// The time for which a worker is kept for a stream after its request was answered: the
        /// total limit of a delivery.
        public var stream: Duration = .seconds(600)
        /// The total limit for a reindex.
        public var reindex: Duration = .seconds(1800)
        /// The limit for a throttle notice.
        public var notice: Duration = .seconds(5)

        /// The time within which a worker must reply to a cancelled request.
        public var cancelGrace: Duration = .seconds(2)
        /// The time after that within which the worker must exit by itself before the kernel kills
        /// it.
        public var endGrace: Duration = .seconds(1)

        /// The time for which an idle worker is kept; `nil` to keep it until the host is shut down.
        public var linger: Duration? = .seconds(30)
        /// The maximum number of workers. The least recently used idle worker is terminated to make
        /// room for another one. Interactive requests may use ``reserve`` more.
        public var workers = 8
        /// The number of additional workers for interactive requests.
        public var reserve = 4
        /// The time for which an interactive request waits for a free worker. An extension that
        /// hangs has shown no sign of life for this long.
        public var place: Duration = .seconds(5)
        /// The maximum number of background workers, in addition to ``workers``. Only one job runs
        /// at a time. The second slot is for a worker that is being terminated, or for a job that
        /// is terminated in favour of another.
        public var backgroundWorkers = 2
        /// The time for which an idle background worker is kept: until the next page, or the
        /// bundle's next job.
        public var backgroundLinger: Duration? = .seconds(2)
        /// The time that a background worker has to react to a pause before it is frozen. It is
        /// enough for a batch, and half of a delay that users do not notice.
        public var pauseGrace: Duration = .milliseconds(250)
        /// The time that a frozen worker has to release a lock before it is terminated.
        public var lockGrace: Duration = .milliseconds(150)
        /// The maximum number of items that one request may skip-list. If more items fail, the
        /// extension is at fault.
        public var itemsSetAside = 8
        /// The maximum number of workers that may be lost during the search for failing items.
        public var lostWorkers = 128

        /// Returns the time for which an idle worker is kept, by origin.
        func linger(_ origin: RequestOrigin) -> Duration? { origin == .person ? linger : backgroundLinger }

        /// Creates the default limits.
        public init() {}
    }
}
