// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import Synchronization

/// The jobs that are owed and the bundles that ever donated, kept in a file of the store so that they outlive the process.
final class JobStore: Sendable {
    private let file: StoreFile
    private struct State {
        var queue = JobQueue()
        /// The bundles that ever donated.
        var donors: Set<String> = []
    }
    private let state: Mutex<State>
    /// Held while something is changed and the file written, so that nobody who only reads waits for the disk.
    private let writing = Mutex(())
    /// Called when what is owed has changed, by whoever changed it; holds no lock of this.
    let onChange = Mutex<(@Sendable () -> Void)?>(nil)

    /// Whether there was a file that could not be understood. The first change sets it aside as `jobs.json.damaged`.
    let wasDamaged: Bool
    /// Whether there was no file.
    let wasMissing: Bool
    private let wasSetAside = Atomic(false)
    /// The generation of the index for which everything owed by its losses was written down.
    private let generation: Mutex<Int>

    private static let firstGeneration = 1

    /// Reads the jobs of a store. A missing file means none; of one that cannot be understood, see ``wasDamaged``.
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

    /// The generation that was written down with the jobs; `nil` if that is not known.
    var knownGeneration: Int? { wasDamaged || wasMissing ? nil : generation.withLock { $0 } }

    /// Whether everything is owed because the index has lost something since the jobs were last written.
    func isBehind(generation current: Int) -> Bool { generation.withLock { $0 } != current }

    /// Notes that everything is owed that a generation's losses ask for, together with that.
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

    /// How many items a bundle may be asked for more; see ``JobQueue/room(for:)``.
    func room(for bundle: String) -> Int { state.withLock { $0.queue.room(for: bundle) } }

    /// Changes the queue and keeps the change; when that fails, the change is undone.
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

    /// The bundles that ever donated, sorted.
    var donors: [String] { state.withLock { $0.donors.sorted() } }

    /// Whether a bundle is known to have donated.
    func isDonor(_ bundle: String) -> Bool { state.withLock { $0.donors.contains(bundle) } }

    /// Notes that a bundle donates, unless that is known, or there are too many.
    func note(donor: String) throws(EngineError) {
        guard state.withLock({ Self.accepts(donor, $0) }) else { return }
        try updateState { state in if Self.accepts(donor, state) { state.donors.insert(donor) } }
    }

    /// Takes in bundles that are known to have donated, without writing that down.
    ///
    /// - Returns: Whether any of them is new.
    func learn(donors: [String]) -> Bool {
        writing.withLock { _ in
            state.withLock { state in
                let count = state.donors.count
                for donor in donors where Self.accepts(donor, state) { state.donors.insert(donor) }
                return state.donors.count > count
            }
        }
    }

    /// Forgets what a bundle owes, and that it ever donated.
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
            // Not before it is there: what could not be replaced is damaged still.
            wasSetAside.store(true, ordering: .relaxed)
        } catch {
            throw .storeFile(
                path: file.path, operation: "Writing the jobs to", detail: systemReason(of: error))
        }
    }
}
