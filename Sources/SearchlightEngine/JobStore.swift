// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import Synchronization

/// The pending jobs, and the bundles that have ever donated, in a file in the store, so that they
/// persist when the process exits.
final class JobStore: Sendable {
    private let file: StoreFile
    private struct State {
        var queue = JobQueue()
        /// The bundles that have ever donated.
        var donors: Set<String> = []
    }
    private let state: Mutex<State>
    /// Held while a change is made and the file is written. Readers only take `state`, so they
    /// never wait for the disk.
    private let writing = Mutex(())
    /// Called after each change to the pending jobs, on the thread that makes the change and
    /// without holding a lock of this object.
    let onChange = Mutex<(@Sendable () -> Void)?>(nil)

    /// `true` if the file exists but cannot be decoded. The first change keeps it as
    /// `jobs.json.damaged`.
    let wasDamaged: Bool
    /// `true` if the file did not exist.
    let wasMissing: Bool
    private let wasSetAside = Atomic(false)
    /// The last index generation whose data losses are covered by recorded jobs.
    private let generation: Mutex<Int>

    private static let firstGeneration = 1

    /// Reads a store's jobs. If the file is missing, there are no jobs. For a malformed file, see
    /// ``wasDamaged``.
    init(directory: String) {
        let file = StoreFile(path: directory + "/jobs.json", maximumBytes: JobDocument.maximumBytes)
        self.file = file
        let content = file.read()
        if case .missing = content { wasMissing = true } else { wasMissing = false }
        if case .bytes(let data) = content, let document = JobDocument(data) {
            state = Mutex(State(queue: document.queue, donors: Set(document.donors ?? [])))
            generation = Mutex(document.generation ?? Self.firstGeneration)
            wasDamaged = false
        } else {
            state = Mutex(State())
            generation = Mutex(Self.firstGeneration)
            wasDamaged = !wasMissing
        }
    }

    /// The generation in the job file; `nil` if the file is missing or damaged.
    var knownGeneration: Int? { wasDamaged || wasMissing ? nil : generation.withLock { $0 } }

    /// Returns `true` if the index has lost donations since the jobs were last written, so that
    /// every bundle needs a reindex.
    func isBehind(generation current: Int) -> Bool { generation.withLock { $0 } != current }

    /// Records the jobs that result from a data loss, together with the generation, in one write.
    func oweAll(_ jobs: [Job], generation current: Int) throws(EngineError) {
        let before = generation.withLock { generation in
            defer { generation = current }
            return generation
        }
        do throws(EngineError) {
            try update(always: true) { queue in
                for job in jobs { queue.add(job) }
            }
        } catch {
            generation.withLock { $0 = before }
            throw error
        }
    }

    var jobs: [Job] { state.withLock { $0.queue.jobs } }

    subscript(bundle: String) -> Job? { state.withLock { $0.queue[bundle] } }

    /// Returns the number of further items that can be requested from a bundle; see
    /// ``JobQueue/room(for:)``.
    func room(for bundle: String) -> Int { state.withLock { $0.queue.room(for: bundle) } }

    /// Changes the queue and writes the file. If the write fails, the change is discarded.
    func update(always: Bool = false, _ change: (inout JobQueue) -> Void) throws(EngineError) {
        try updateState(always: always) { change(&$0.queue) }
    }

    private func updateState(always: Bool = false, _ change: (inout State) -> Void) throws(EngineError) {
        var hasChanged = false
        let problem: EngineError? = writing.withLock { _ in
            let before = state.withLock { $0 }
            var changed = before
            change(&changed)
            guard always || changed.queue != before.queue || changed.donors != before.donors else { return nil }
            do throws(EngineError) { try save(changed) } catch { return error }
            state.withLock { $0 = changed }
            hasChanged = changed.queue != before.queue
            return nil
        }
        if let problem { throw problem }
        if hasChanged { onChange.withLock { $0 }?() }
    }

    // MARK: Donors

    /// The bundles that have ever donated, sorted.
    var donors: [String] { state.withLock { $0.donors.sorted() } }

    /// Returns `true` if a bundle is recorded as a donor.
    func isDonor(_ bundle: String) -> Bool { state.withLock { $0.donors.contains(bundle) } }

    /// Records a bundle as a donor, unless it is recorded already or the list is full.
    func note(donor: String) throws(EngineError) {
        guard state.withLock({ Self.accepts(donor, $0) }) else { return }
        try updateState { state in if Self.accepts(donor, state) { state.donors.insert(donor) } }
    }

    /// Adds bundles that are known to have donated, only in memory.
    ///
    /// - Returns: `true` if any of them is new.
    func learn(donors: [String]) -> Bool {
        writing.withLock { _ in
            state.withLock { state in
                let count = state.donors.count
                for donor in donors where Self.accepts(donor, state) { state.donors.insert(donor) }
                return state.donors.count > count
            }
        }
    }

    /// Removes a bundle's pending work and its donor record.
    func forget(_ bundle: String) throws(EngineError) {
        try updateState { state in
            state.queue.remove(bundle: bundle)
            state.donors.remove(bundle)
        }
    }

    private static func accepts(_ donor: String, _ state: State) -> Bool {
        JobDocument.canBeKept(donor: donor) && state.donors.count < JobDocument.maximumDonors
            && !state.donors.contains(donor)
    }

    private func save(_ state: State) throws(EngineError) {
        let document = JobDocument(
            generation: generation.withLock { $0 }, queue: state.queue, donors: state.donors.sorted())
        do {
            let isDamaged = wasDamaged && !wasSetAside.load(ordering: .relaxed)
            try file.replace(with: document.encoded(), settingAside: isDamaged)
            // Set only after the replacement: until then the file on disk is still the damaged one.
            wasSetAside.store(true, ordering: .relaxed)
        } catch {
            throw .storeFile(
                path: file.path, operation: "Writing the jobs to", detail: systemReason(of: error))
        }
    }
}
