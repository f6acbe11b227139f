// SPDX-License-Identifier: Apache-2.0

extension WorkerConfiguration {
    /// How long workers may take, and how many there may be. A worker shows that it is alive by answering, donating,
    /// deleting, logging, printing, or saying how far it has come.
    public struct Limits: Sendable {
        /// For loading the library and creating the extension.
        public var load: Duration = .seconds(5)
        /// Until the first sign of life after something was asked.
        public var firstSign: Duration = .seconds(5)
        /// Without any further sign of life.
        public var progress: Duration = .seconds(10)
        /// For a promise or a preview as a whole, however alive: a person is waiting.
        public var answer: Duration = .seconds(60)
        /// For a reindex as a whole.
        public var reindex: Duration = .seconds(1800)
        /// For hearing that indexing is slowed down, or not any more.
        public var notice: Duration = .seconds(5)

        /// How long a worker may take to answer what it was told that nobody waits for any more.
        public var cancelGrace: Duration = .seconds(2)
        /// How long it may take to end when it did not, before the kernel ends it.
        public var endGrace: Duration = .seconds(1)

        /// How long a worker is kept that nobody asks anything; `nil` until the host is shut down.
        public var linger: Duration? = .seconds(30)
        /// The most workers at once: the one that was not used for longest is ended for another. A person who waits may have
        /// ``reserve`` more.
        public var workers = 8
        /// The workers that only a person who waits may have.
        public var reserve = 4
        /// How long a person's request waits for one of these to be free, when all are in use: an extension that hangs has
        /// shown no sign of life for so long.
        public var place: Duration = .seconds(5)
        /// The background workers that there may be besides. Only one job is done at a time; the second place is for one that
        /// is just being ended, and for a job that is ended for another.
        public var backgroundWorkers = 2
        /// How long a background worker is kept that nobody asks anything: until the next page, or the next job of its bundle.
        public var backgroundLinger: Duration? = .seconds(2)
        /// How long a background worker that is told to be quiet has for it before it is frozen: time for a batch, and half of
        /// what a person who comes back does not notice.
        public var pauseGrace: Duration = .milliseconds(250)
        /// How long one that holds a lock then has for giving it back before it is ended.
        public var lockGrace: Duration = .milliseconds(150)
        /// The most items that one request may set aside; beyond it, the extension is at fault and not the items.
        public var itemsSetAside = 8
        /// The most workers that may be lost while a guilty item is looked for.
        public var lostWorkers = 128

        /// How long a worker is kept, by whom it works for.
        func linger(_ origin: RequestOrigin) -> Duration? { origin == .person ? linger : backgroundLinger }

        /// The limits of the design (its section 4.4).
        public init() {}
    }
}
