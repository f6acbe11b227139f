// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SearchIndex
import Synchronization

/// The scheduler's stored records, one value each.
package enum ScheduleRecord: String, Hashable, Sendable, Codable, CaseIterable {
    /// The usage of extensions within their quota windows.
    case usage
    /// The daily usage and activity of extensions.
    case days
    /// The jobs that the user cancelled, each with the time before which it is not started.
    case cancellations
}

/// The pending work on a bundle's encrypted items. It names none of them, because the file is not
/// encrypted.
struct EncryptedWork: Hashable, Sendable, Codable {
    /// The time up to which expiring items have already been requested.
    var requestedThrough: Double?
    /// The time since which items may be outdated, because a lock rejected a donation of the
    /// extension; `nil` normally. Everything is requested after the next unlocking.
    var staleSince: Double?
    /// `true` if the bundle had items that are not encrypted too.
    var hasPlainItems: Bool?
}

/// The schedule's stored state. A pure value; times are in seconds since 2001-01-01 UTC.
struct ScheduleState: Hashable, Sendable, Codable {
    /// The last run of a maintenance task.
    struct Maintenance: Hashable, Sendable, Codable {
        /// The time of the last run.
        var last: Double?
        /// The number of the newest text at that time (``MaintenanceStats/texts``).
        var texts: Int64?
    }
    /// The encoded values of ``ScheduleRecord``, by name.
    var records: [String: Data] = [:]
    /// The bundles that the user throttled, sorted.
    var throttled: [String] = []
    /// The last runs, by task name.
    var maintenance: [String: Maintenance] = [:]
    /// The expiry marks by bundle: items up to the mark have already been requested again.
    var marks: [String: ExpiryMark] = [:]

    /// The work on encrypted items, by bundle; `nil` in a store without any.
    var encrypted: [String: EncryptedWork]?

    /// The maximum size of a stored value in bytes.
    static let maximumRecordBytes = 8 << 20
    /// The maximum number of bundles in each collection.
    static let maximumBundles = JobDocument.maximumDonors

    subscript(task: MaintenanceTask) -> Maintenance {
        get { maintenance[task.rawValue] ?? Maintenance() }
        set { maintenance[task.rawValue] = newValue }
    }

    /// Changes the work on a bundle's encrypted items. Does nothing for a further bundle if there
    /// are too many.
    mutating func changeEncrypted(_ bundle: String, _ change: (inout EncryptedWork) -> Void) {
        var all = encrypted ?? [:]
        var work = all[bundle] ?? EncryptedWork()
        change(&work)
        all[bundle] = work == EncryptedWork() ? nil : work
        guard all.count <= Self.maximumBundles, JobDocument.canBeKept(donor: bundle) else { return }
        encrypted = all.isEmpty ? nil : all
    }

    /// Returns `true` if a bundle with encrypted items is known to have had others too.
    func hasPlainItems(_ bundle: String) -> Bool { encrypted?[bundle]?.hasPlainItems == true }

    var isSound: Bool {
        let names = throttled + marks.keys + (encrypted ?? [:]).keys
        return records.allSatisfy {
            ScheduleRecord(rawValue: $0.key) != nil && $0.value.count <= Self.maximumRecordBytes
        }
            && maintenance.keys.allSatisfy { MaintenanceTask(rawValue: $0) != nil }
            && throttled.count <= Self.maximumBundles && marks.count <= Self.maximumBundles
            && encrypted?.count ?? 0 <= Self.maximumBundles && names.allSatisfy(JobDocument.canBeKept)
    }
}

/// The content of the schedule file (`schedule.json`): a format version, the state and a checksum
/// of both.
private struct ScheduleDocument: ChecksummedDocument {
    static let maximumBytes = 32 << 20
    static let currentFormat = 1

    var formatVersion = currentFormat
    var state: ScheduleState
    var checksum: UInt32?
}

/// The schedule's stored state, in a file in the store. May be used from any thread; each change
/// writes the file.
final class ScheduleStore: Sendable {
    private let file: StoreFile
    private let present: Mutex<ScheduleState>
    /// Held while the file is written, so that readers do not wait for the disk.
    private let writing = Mutex(())
    /// `true` if the file exists but cannot be decoded. The first change keeps it as
    /// `schedule.json.damaged`. The state then starts empty: some work runs earlier than necessary,
    /// and no bundle is throttled.
    let wasDamaged: Bool
    private let wasSetAside = Atomic(false)

    init(directory: String) {
        file = StoreFile(path: directory + "/schedule.json", maximumBytes: ScheduleDocument.maximumBytes)
        let known = Self.read(file)
        wasDamaged = known == nil
        present = Mutex(known ?? ScheduleState())
    }

    /// Reads the state.
    ///
    /// - Returns: The state; `nil` if the file is malformed.
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

    /// Changes the state and writes the file. After a failed write, the change still applies in
    /// this process.
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
    /// `true` if the schedule file could not be read when the store was opened, so that the
    /// schedule restarted empty.
    package var hasDamagedSchedule: Bool { scheduleStore.wasDamaged }

    /// Returns the last stored value; `nil` if there is none or it has another type.
    package func scheduleRecord<Value: Decodable>(_ record: ScheduleRecord, as type: Value.Type) -> Value? {
        scheduleStore.state.records[record.rawValue].flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    /// Replaces a stored value. Writes a file and waits for the disk, so do not call it for every
    /// change.
    ///
    /// - Parameter value: The value; at most 8 MiB when encoded.
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

    /// Removes a bundle's daily records and expiry mark. The user's throttle setting is kept: it is
    /// a preference, and the bundle may return.
    func forgetSchedule(of bundle: String) throws(EngineError) {
        activity.forget(bundle)
        outlook.withLock { outlook in
            outlook.expiringEncrypted[bundle] = nil
            outlook.whollyLocked.remove(bundle)
        }
        var days = scheduleRecord(.days, as: DayLedger.self)
        days?.remove(bundle: bundle)
        if let days { try keep(days, as: .days) }
        try scheduleStore.update { state in
            state.marks[bundle] = nil
            state.changeEncrypted(bundle) { $0 = EncryptedWork() }
        }
    }

    /// The bundles that the user throttled.
    package var throttledBundles: Set<String> { Set(scheduleStore.state.throttled) }

    /// Records that the user throttled a bundle, or stopped throttling it. The extension is not
    /// notified; see ``throttle(_:_:)``.
    ///
    /// - Throws: ``EngineError``; the change then still applies until this process exits.
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
