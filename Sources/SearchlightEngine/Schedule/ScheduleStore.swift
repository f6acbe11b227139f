// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SearchIndex
import Synchronization

/// What is kept for whoever schedules, each as one value of its own.
package enum ScheduleRecord: String, Hashable, Sendable, Codable, CaseIterable {
    /// What extensions have used in the windows of their quotas.
    case usage
    /// What extensions have used and done on each day.
    case days
    /// The jobs that persons have cancelled, and until when each is left alone.
    case cancellations
}

/// What has to be remembered so that work is done at its time. A pure value; moments are in seconds since 2001-01-01 UTC.
struct ScheduleState: Hashable, Sendable, Codable {
    /// How a task of maintenance went.
    struct Maintenance: Hashable, Sendable, Codable {
        /// When it was last done.
        var last: Double?
        /// The number of the newest text then (``IndexWear/texts``).
        var texts: Int64?
    }
    /// The values of ``ScheduleRecord``, encoded, by their names.
    var records: [String: Data] = [:]
    /// The bundles that persons have throttled, sorted.
    var throttled: [String] = []
    /// By the names of the tasks.
    var maintenance: [String: Maintenance] = [:]
    /// Up to where items were asked for before they expire, by bundle.
    var marks: [String: ExpiryMark] = [:]

    /// The largest value that is kept, in bytes.
    static let maximumRecordBytes = 8 << 20
    /// The most bundles of each kind.
    static let maximumBundles = JobDocument.maximumDonors

    subscript(task: MaintenanceTask) -> Maintenance {
        get { maintenance[task.rawValue] ?? Maintenance() }
        set { maintenance[task.rawValue] = newValue }
    }

    var isSound: Bool {
        let names = throttled + marks.keys
        return records.allSatisfy {
            ScheduleRecord(rawValue: $0.key) != nil && $0.value.count <= Self.maximumRecordBytes
        }
            && maintenance.keys.allSatisfy { MaintenanceTask(rawValue: $0) != nil }
            && throttled.count <= Self.maximumBundles && marks.count <= Self.maximumBundles
            && names.allSatisfy(JobDocument.canBeKept)
    }
}

/// The file of the schedule (`schedule.json`): a format, the state and a checksum of both.
private struct ScheduleDocument: ChecksummedDocument {
    static let maximumBytes = 32 << 20
    static let currentFormat = 1

    var formatVersion = currentFormat
    var state: ScheduleState
    var checksum: UInt32?
}

/// What is remembered for the schedule, in a file of the store. May be used from any thread; a change writes the file.
final class ScheduleStore: Sendable {
    private let file: StoreFile
    private let present: Mutex<ScheduleState>
    /// Held while the file is written, so that nobody who only reads waits for the disk.
    private let writing = Mutex(())
    /// Whether there was a file that could not be understood. The first change sets it aside as `schedule.json.damaged`; all
    /// of it is begun anew, at the cost of some work that is done sooner than it need be, and nobody is throttled.
    let wasDamaged: Bool
    private let wasSetAside = Atomic(false)

    init(directory: String) {
        file = StoreFile(path: directory + "/schedule.json", maximumBytes: ScheduleDocument.maximumBytes)
        let known = Self.read(file)
        wasDamaged = known == nil
        present = Mutex(known ?? ScheduleState())
    }

    /// - Returns: `nil` if what is there cannot be understood.
    private static func read(_ file: StoreFile) -> ScheduleState? {
        switch file.read() {
        case .missing: return ScheduleState()
        case .unreadable: return nil
        case .bytes(let data):
            guard let document = try? JSONDecoder().decode(ScheduleDocument.self, from: data),
                document.formatVersion == ScheduleDocument.currentFormat, document.hasRightChecksum,
                document.state.isSound
            else { return nil }
            return document.state
        }
    }

    var state: ScheduleState { present.withLock { $0 } }

    /// Changes the state and keeps the change; what cannot be written holds in this process all the same.
    func update(_ change: (inout ScheduleState) -> Void) throws(EngineError) {
        let problem: (any Error)? = writing.withLock { _ in
            let changed: ScheduleState? = present.withLock { state in
                let before = state
                change(&state)
                return state == before ? nil : state
            }
            guard let changed else { return nil }
            do {
                let isDamaged = wasDamaged && !wasSetAside.load(ordering: .relaxed)
                try file.replace(with: ScheduleDocument(state: changed).encoded(), settingAside: isDamaged)
                wasSetAside.store(true, ordering: .relaxed)
                return nil
            } catch {
                return error
            }
        }
        guard let problem else { return }
        throw .storeFile(
            path: file.path, operation: "Writing the schedule to",
            detail: systemReason(of: problem))
    }
}

extension SearchlightEngine {
    /// Whether the file of the schedule could not be read at the opening; it was begun anew.
    package var hasDamagedSchedule: Bool { scheduleStore.wasDamaged }

    /// What was kept last; `nil` if there is nothing, or it is not of this type.
    package func scheduleRecord<Value: Decodable>(_ record: ScheduleRecord, as type: Value.Type) -> Value? {
        scheduleStore.state.records[record.rawValue].flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    /// Keeps a value in the place of the one before. Writes a file and waits for the disk, so not for every change.
    ///
    /// - Parameter value: Encoded at most 8 MiB.
    /// - Throws: ``EngineError/storeFile(path:operation:detail:)``.
    package func keep(_ value: some Encodable, as record: ScheduleRecord) throws(EngineError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let data = try? encoder.encode(value), data.count <= ScheduleState.maximumRecordBytes else {
            throw .storeFile(
                path: configuration.storeDirectory + "/schedule.json", operation: "Writing “\(record.rawValue)” to",
                detail: "it is larger than \(ScheduleState.maximumRecordBytes >> 20) MiB, or cannot be encoded")
        }
        try scheduleStore.update { $0.records[record.rawValue] = data }
    }

    /// Forgets what a bundle has cost and done, and up to where it was asked for what expires. That a person has throttled it
    /// holds on: it is a wish, and the bundle may come back.
    func forgetSchedule(of bundle: String) throws(EngineError) {
        activity.forget(bundle)
        var days = scheduleRecord(.days, as: DayLedger.self)
        days?.remove(bundle: bundle)
        if let days { try keep(days, as: .days) }
        try scheduleStore.update { $0.marks[bundle] = nil }
    }

    /// The bundles that persons have throttled.
    package var throttledBundles: Set<String> { Set(scheduleStore.state.throttled) }

    /// Notes that a person has throttled a bundle, or not any more. Nobody is told; see ``throttle(_:_:)``.
    ///
    /// - Throws: ``EngineError``; it holds for as long as this process lives.
    package func setThrottled(_ isThrottled: Bool, _ bundle: String) throws(EngineError) {
        defer { jobsFollower.tell() }
        try scheduleStore.update { state in
            state.throttled.removeAll { $0 == bundle }
            guard isThrottled, JobDocument.canBeKept(donor: bundle),
                state.throttled.count < ScheduleState.maximumBundles
            else { return }
            state.throttled.append(bundle)
            state.throttled.sort()
        }
    }
}
