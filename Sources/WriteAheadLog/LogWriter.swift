// SPDX-License-Identifier: Apache-2.0

/// The files of an open log. Used only on the log's I/O queue.
struct LogWriter: Sendable {
    /// The durable state.
    private(set) var snapshot: LogSnapshot
    /// Counters of the completed work.
    private(set) var statistics = LogStatistics()
    /// The findings of the examination made when the log was opened.
    let findings: [LogFinding]
    /// The last entry that is durable in the owner's database.
    private var applied: UInt64

    private let folder: String
    private let store: StoreIdentifier
    private let seed: UInt32
    private let files: any LogFiles
    private let configuration: LogConfiguration
    /// The newest segment; `nil` if it must not be written to, so that the next group starts a new
    /// segment.
    private var current: (any LogFile)?
    private var head: LogHead
    /// `true` once the files are released; they are not accessed afterwards.
    private var isClosed = false
    private var buffer: [UInt8] = []

    /// Creates the folder if necessary, removes unfinished files, and examines the remaining files.
    static func examine(
        _ folder: String, store: StoreIdentifier, applied: UInt64, acknowledged: UInt64,
        files: any LogFiles, configuration: LogConfiguration
    ) throws(LogFileError) -> LogRecovery {
        try files.createFolder(folder)
        var names: [String] = []
        for name in try files.names(in: folder) {
            if name.hasSuffix(LogFileNames.unfinishedSuffix) {
                try files.remove(folder + "/" + name)
            } else {
                names.append(name)
            }
        }
        return try LogRecovery(
            folder: folder, names: names, store: store, applied: applied, acknowledged: acknowledged, isThorough: false,
            files: files, markBytes: configuration.markBytes)
    }

    /// Opens a log folder for writing after its recovery scan.
    init(
        _ recovery: LogRecovery, folder: String, store: StoreIdentifier, applied: UInt64,
        files: any LogFiles, configuration: LogConfiguration
    ) throws(LogFileError) {
        self.folder = folder
        self.store = store
        self.applied = applied
        self.files = files
        self.configuration = configuration
        seed = store.checksum
        findings = recovery.findings
        snapshot = LogSnapshot(segments: recovery.segments, last: recovery.last)
        if let newest = recovery.segments.last {
            let file = try files.open(folder + "/" + newest.name, for: .update)
            if recovery.isNewestSound {
                if try file.size() > newest.end { try file.truncate(to: newest.end) }
                current = file
            }
            // The entries that were read, and the name of the file, may not be on the disk yet.
            // Both are synchronized before the log relies on them.
            try file.synchronize()
            try files.synchronizeFolder(folder)
        }
        if let (noted, slot) = recovery.head {
            head = LogHead(
                file: try files.open(folder + "/" + LogFileNames.head, for: .update), store: store, slot: slot)
            if noted != snapshot.last {
                try head.note(snapshot.last)
                try head.synchronize()
            }
        } else {
            head = try LogHead(creatingIn: folder, files: files, store: store, sequence: snapshot.last)
        }
    }

    /// Makes entries durable, all of them or none.
    ///
    /// - Returns: The number of the first entry; the other numbers follow it.
    mutating func write(_ group: [PendingAppend]) throws(LogError) -> UInt64 {
        guard !isClosed else { throw .closed }
        do {
            let first = try writeGroup(group)
            statistics.groups += 1
            return first
        } catch {
            statistics.failedGroups += 1
            throw .file(error)
        }
    }

    /// The size, in bytes, above which the changes of an entry are written directly instead of
    /// being copied to the buffer.
    private static let bufferedBytes = 1 << 20

    private mutating func writeGroup(_ group: [PendingAppend]) throws(LogFileError) -> UInt64 {
        let file = try segmentForWriting()
        let newest = snapshot.segments.count - 1
        let first = snapshot.last + 1
        let start = snapshot.segments[newest].end
        buffer.removeAll(keepingCapacity: buffer.capacity <= 2 * configuration.groupBytes)
        var segment = snapshot.segments[newest]
        /// The file offset of the buffer's contents.
        var place = start
        for (index, append) in group.enumerated() {
            let sequence = first + UInt64(index)
            segment.mark(sequence, at: place + buffer.count, every: configuration.markBytes)
            LogFrame(
                length: UInt32(append.byteCount), sequence: sequence, groupIndex: UInt32(index),
                payloadChecksum: append.checksum
            ).append(to: &buffer, seed: seed)
            buffer += append.head
            guard append.changes.count > Self.bufferedBytes else {
                buffer += append.changes
                continue
            }
            // Writes large changes without copying them.
            do {
                try file.writeAll(buffer, at: place)
                place += buffer.count
                try file.writeAll(append.changes, at: place)
            } catch {
                do { try file.truncate(to: start) } catch { current = nil }
                throw error
            }
            place += append.changes.count
            buffer.removeAll(keepingCapacity: true)
        }
        do {
            try file.writeAll(buffer, at: place)
        } catch {
            // If there is no space, the segment is intact up to the start of the group. If even
            // truncation fails, the file is left unchanged, and the number of the next segment
            // shows that the rest is invalid.
            do { try file.truncate(to: start) } catch { current = nil }
            throw error
        }
        do {
            try file.synchronize()
        } catch {
            // After a failed fdatasync, the kernel may have dropped the pages and marked them
            // clean, so this file is not written to again.
            try? file.truncate(to: start)
            current = nil
            throw error
        }
        segment.end = place + buffer.count
        snapshot.segments[newest] = segment
        snapshot.last = first + UInt64(group.count - 1)
        noteLast()
        return first
    }

    private mutating func noteLast() {
        // The entries are durable. Without the note, only a loss of the last entries would go
        // unnoticed.
        do { try head.note(snapshot.last) } catch { statistics.headFailures += 1 }
    }

    /// Returns the newest segment, or a new one if the newest is full or damaged, or if writing to
    /// it failed.
    private mutating func segmentForWriting() throws(LogFileError) -> any LogFile {
        if let current, let newest = snapshot.segments.last, newest.end < configuration.segmentBytes { return current }
        return try beginSegment()
    }

    @discardableResult
    private mutating func beginSegment() throws(LogFileError) -> any LogFile {
        current = nil
        let first = snapshot.last + 1
        let header = LogSegmentHeader(store: store, first: first).encoded
        let file = try files.createWhole(folder + "/" + LogFileNames.segment(first), contents: header, in: folder)
        // A segment whose first group failed has no entries and the same name; it has been
        // replaced.
        if snapshot.segments.last?.first == first { snapshot.segments.removeLast() }
        snapshot.segments.append(LogSegment(first: first, end: header.count))
        current = file
        return file
    }

    /// The size, in bytes, at which a fully applied segment is replaced with a new one and removed.
    private static let finishedBytes = 1 << 20

    /// Removes segments whose entries are all applied, but never the newest one. If the newest
    /// segment is fully applied, and damaged or large, first starts a new segment, so that it can
    /// be removed too.
    mutating func discard(through sequence: UInt64) throws(LogFileError) {
        // Another process may already own the files.
        guard !isClosed else { return }
        applied = max(applied, min(sequence, snapshot.last))
        if let newest = snapshot.segments.last, newest.first <= snapshot.last, snapshot.last <= applied {
            if current == nil {
                try beginSegment()
            } else if newest.end >= Self.finishedBytes {
                // If the disk is full, the segment is kept.
                _ = try? beginSegment()
            }
        }
        var removed = false
        while snapshot.segments.count > 1, snapshot.lastSequence(ofSegment: 0) <= applied {
            do {
                try files.remove(folder + "/" + snapshot.segments[0].name)
            } catch  where error.isNotFound {
                // The file was already removed.
            }
            snapshot.segments.removeFirst()
            removed = true
        }
        if removed { try files.synchronizeFolder(folder) }
    }

    /// Reads all files and returns their problems.
    func verify() throws(LogFileError) -> [LogFinding] {
        try LogRecovery(
            folder: folder, names: files.names(in: folder), store: store, applied: applied, acknowledged: snapshot.last,
            isThorough: true, files: files, markBytes: configuration.markBytes
        ).findings
    }

    /// Makes the note of the last entry durable, and closes the segment.
    mutating func close() throws(LogFileError) {
        isClosed = true
        current = nil
        try head.synchronize()
    }

    /// The counters and the current sizes.
    var currentStatistics: LogStatistics {
        var statistics = statistics
        statistics.lastSequence = snapshot.last
        statistics.segments = snapshot.segments.count
        statistics.bytes = snapshot.segments.reduce(0) { $0 + $1.end }
        return statistics
    }
}
