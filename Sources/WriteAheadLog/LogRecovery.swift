// SPDX-License-Identifier: Apache-2.0

/// Examines the files of a log without changing them. docs/WRITE-AHEAD-LOG.md explains how it
/// distinguishes a torn tail from damage.
struct LogRecovery {
    private let files: any LogFiles
    private let folder: String
    private let store: StoreIdentifier
    private let applied: UInt64
    /// `true` to read and decode all entries; otherwise segments that are fully applied are
    /// skipped.
    private let isThorough: Bool
    private let markBytes: Int
    /// `true` to skip the payloads of applied entries.
    private let skims: Bool

    /// The findings, in file order.
    private(set) var findings: [LogFinding] = []
    /// The segments, each ending with its last acknowledged or complete entry.
    private(set) var segments: [LogSegment] = []
    /// The number of the last entry of which there is any trace; the next entry gets the following
    /// number.
    private(set) var last: UInt64
    /// `true` if the newest segment can be continued after it is truncated to its end.
    private(set) var isNewestSound = false
    /// The note of the last durable entry, and the slot to write to next; `nil` if no note is
    /// reliable.
    private(set) var head: (sequence: UInt64, slot: Int)?
    /// `true` if a note should exist but none is readable, not even an older one, so that the last
    /// entries may be missing without a trace. A single bad slot may result from a crash and proves
    /// nothing.
    private(set) var lacksNote = false

    /// Examines a folder.
    ///
    /// - Parameters:
    ///   - applied: The highest entry number that is durable elsewhere.
    ///   - acknowledged: The highest entry number known to have been acknowledged; at least
    ///     `applied`.
    init(
        folder: String, names: [String], store: StoreIdentifier, applied: UInt64, acknowledged: UInt64,
        isThorough: Bool, skims: Bool = false, files: any LogFiles, markBytes: Int
    ) throws(LogFileError) {
        self.skims = skims
        self.files = files
        self.folder = folder
        self.store = store
        self.applied = applied
        self.isThorough = isThorough
        self.markBytes = markBytes
        last = acknowledged
        let segmentNames = names.filter { $0.hasSuffix(LogFileNames.segmentSuffix) }
        for name in segmentNames.sorted() where LogFileNames.first(of: name) == nil {
            findings.append(.damaged(file: name, offset: 0, entries: nil, reason: .misnamed))
        }
        let firsts = segmentNames.compactMap(LogFileNames.first(of:)).sorted()
        let noted = try readHead(isExpected: names.contains(LogFileNames.head) || !firsts.isEmpty || last > 0)
        last = max(last, noted ?? 0)
        reportMissingStart(firsts)
        for (index, first) in firsts.enumerated() {
            let isNewest = index + 1 == firsts.count
            try examine(first, limit: isNewest ? nil : firsts[index + 1] - 1)
        }
    }

    private mutating func report(
        _ file: String, _ offset: Int, _ entries: ClosedRange<UInt64>?, _ reason: LogDamage
    ) {
        findings.append(.damaged(file: file, offset: offset, entries: entries, reason: reason))
    }

    /// Returns the highest number in a note, even if the other slot is damaged.
    private mutating func readHead(isExpected: Bool) throws(LogFileError) -> UInt64? {
        guard isExpected else { return nil }
        let file: any LogFile
        do {
            file = try files.open(folder + "/" + LogFileNames.head, for: .read)
        } catch {
            // Only a missing file is considered damage; a file that cannot be opened now may be
            // readable later.
            guard error.isNotFound else { throw error }
            report(LogFileNames.head, 0, nil, .badHead)
            lacksNote = true
            return nil
        }
        let size = try file.size()
        let bytes = try file.read(at: 0, count: 2 * LogHead.slotBytes)
        let slots = [0, LogHead.slotBytes].map {
            LogHead.decode(Array(bytes.dropFirst($0).prefix(LogHead.slotBytes)), store)
        }
        let sequence = slots.compactMap { $0 }.max()
        lacksNote = sequence == nil
        if size == 2 * LogHead.slotBytes, let one = slots[0], let other = slots[1] {
            head = (max(one, other), one < other ? 0 : 1)
        } else {
            report(LogFileNames.head, slots[0] == nil ? 0 : LogHead.slotBytes, nil, .badHead)
        }
        return sequence
    }

    private mutating func reportMissingStart(_ firsts: [UInt64]) {
        let available = firsts.first ?? last + 1
        if let first = firsts.first, first > applied + 1 {
            report(LogFileNames.segment(first), 0, (applied + 1)...(first - 1), .missingEntries)
        } else if firsts.isEmpty, available > applied + 1 {
            report(LogFileNames.segment(applied + 1), 0, (applied + 1)...(available - 1), .missingEntries)
        }
    }

    private mutating func examine(_ first: UInt64, limit: UInt64?) throws(LogFileError) {
        let file = try files.open(folder + "/" + LogFileNames.segment(first), for: .read)
        let size = try file.size()
        var segment = LogSegment(first: first, end: size)
        isNewestSound = false
        if !isThorough, let limit, limit <= applied {
            segments.append(segment)
            return
        }
        let header = LogSegmentHeader(decoding: try file.read(at: 0, count: LogSegmentHeader.byteCount))
        let damage: LogDamage? =
            switch header {
            case nil: .badHeader
            case let header? where header.store != store: .foreignStore
            case let header? where header.version > LogSegmentHeader.formatVersion: .newerFormat(header.version)
            case let header? where header.first != first: .misnamed
            default: nil
            }
        switch damage {
        case .foreignStore?, .newerFormat?:
            // The number in the file's name must not be used for another file, regardless of the
            // content.
            if limit == nil { last = max(last, first) }
            segment.damage = damage
            segments.append(segment)
            let lastHere = limit ?? last
            report(segment.name, 0, lastHere < first ? nil : first...lastHere, damage ?? .badHeader)
            return
        case let damage?:
            report(segment.name, 0, nil, damage)
        case nil: break
        }
        let reader = LogFrameReader(
            window: LogFileReader(file: file, size: size), seed: store.checksum,
            offset: LogSegmentHeader.byteCount, expected: first, limit: limit,
            skimming: skims ? applied : 0)
        let scan = try LogSegmentScan(
            reader, segment: segment, size: size, limit: limit, confirmed: last, applied: applied, decodes: isThorough,
            markBytes: markBytes)
        findings += scan.findings
        // All entries in a segment have the same format.
        let isCurrent = header?.version == LogSegmentHeader.formatVersion
        isNewestSound = isCurrent && damage == nil && !scan.isDamaged && scan.next > last
        segments.append(scan.segment)
        last = max(last, scan.next - 1, limit ?? (damage == nil ? 0 : first))
    }
}
