// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileReading

/// A record in a file that may contain several, such as a card or an event.
package struct FileRecord {
    /// The key, which is unique in the file and does not change with the content.
    package var key: String
    /// A number that changes with the content.
    package var digest: UInt64
    /// Returns the item, or throws the reason why the record cannot be read.
    package var item: () throws(RecordFault) -> FileItem

    package init(key: String, digest: UInt64, item: @escaping () throws(RecordFault) -> FileItem) {
        (self.key, self.digest, self.item) = (key, digest, item)
    }
}

/// The reason why a record has no item, worded the same for all records of a kind.
package struct RecordFault: Error, Sendable, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}

/// The records of a file in a fixed order, with the remarks about the file as a whole.
package struct FileRecords {
    package var records: [FileRecord]
    /// The reason why part of the file has no records; nil if there is none.
    package var leftOut: String?

    package init(_ records: [FileRecord], leftOut: String? = nil) { (self.records, self.leftOut) = (records, leftOut) }
}

/// The records of the file in which a reindex page ended, so that the next page does not read the
/// file again.
package struct InterruptedFile {
    package var cursor: RecordCursor
    package var records: FileRecords
}

/// Donates the records of the files in configured folders, one request at a time.
///
/// Not thread-safe: create one for each request.
package struct RecordDonor<File: ServedFile> {
    /// The maximum number of records and files that a page or an update names as left out. Then the
    /// page ends, so that the next page names the others. The same number limits the remarks about
    /// donated records, and the rest of these is dropped.
    private static var maximumReports: Int { 500 }
    /// The minimum number of records that a page donates from a file, even if the file takes long.
    private static var minimumRecords: Int { 20 }

    private let index: CSSearchableIndex
    private let settings: FolderSettings
    private let folders: ServedFolders<File>
    private let noun: String
    private let progress: ProgressReport
    private let states: RecordStates
    private let read: (File) throws(SkipReason) -> FileRecords

    /// - Parameters:
    ///   - noun: The noun for one record in reports, such as "card".
    ///   - read: Returns the records in a file.
    package init(
        to index: CSSearchableIndex, _ settings: FolderSettings, noun: String, progress: ProgressReport,
        states: RecordStates, read: @escaping (File) throws(SkipReason) -> FileRecords
    ) {
        self.index = index
        self.settings = settings
        self.noun = noun
        self.progress = progress
        self.states = states
        self.read = read
        folders = settings.servedFolders()
    }

    private struct Summary {
        var isFirstPage = true
        var skipped = 0
        /// The number of remarks, and of records and files named as left out.
        var remarks = 0
        var named = 0
        /// The file in which the page ended.
        var interrupted: FileRecords?
        /// The states of the files whose records were all donated.
        var states: [(path: String, state: RecordDigests)] = []
    }

    // MARK: Everything

    /// Donates the records that follow a cursor, up to a limit.
    ///
    /// - Parameters:
    ///   - cursor: The end of the previous page; nil for the first page.
    ///   - interrupted: The file in which the previous page ended. Replaced with the file in which
    ///     this page ends.
    ///   - items: The number of items after which the page ends.
    ///   - isOver: Called after each record; the page ends when it returns `true`.
    /// - Returns: The end of the page; nil if no records follow.
    package func donatePage(
        after cursor: RecordCursor?, resuming interrupted: inout InterruptedFile?, items: Int, isOver: () -> Bool
    ) throws -> RecordCursor? {
        let known = interrupted.flatMap { $0.cursor == cursor ? $0.records : nil }
        interrupted = nil
        // The error of the request contains the problem that is not reported here.
        if cursor == nil { settings.problems.filter { $0 != settings.unreadable }.forEach(progress.say) }
        // The host keeps the items of a watched folder that is missing, and deletes all others.
        if let problem = settings.unreadable { throw IncompleteSettings(description: problem) }
        let donations = Donations(to: index) { progress.madeProgress() }
        var summary = Summary(isFirstPage: cursor == nil, skipped: cursor == nil ? settings.problems.count : 0)
        func isFull(_ records: Int) -> Bool {
            donations.count >= items || records >= Self.minimumRecords && isOver()
        }
        if let cursor, let start = cursor.records, let file = try? folders.file(withIdentifier: cursor.path),
            let end = try donate(file, from: start, known: known, donations, &summary, isFull: isFull)
        {
            return try finish(donations, summary, at: end, &interrupted)
        }
        for step in folders.walk(after: cursor?.path, visiting: progress.walking) {
            switch step {
            case .file(let file):
                guard RecordCursor.accepts(file.path) else {
                    leaveOut(file.path, "its path is too long", &summary)
                    continue
                }
                if let end = try donate(file, from: 0, donations, &summary, isFull: isFull) {
                    return try finish(donations, summary, at: end, &interrupted)
                }
                if isFull(Self.minimumRecords) || summary.named >= Self.maximumReports {
                    let end = RecordCursor(path: file.path, records: nil)
                    return try finish(donations, summary, at: end, &interrupted)
                }
            case .skipped(let skip):
                if settings.isComplete, folders.lost(skip) { throw skip }
                leaveOut(skip.path, skip.reason.kind, &summary)
                if skip.reason.keepsItems { try donations.keepItems(at: skip.path) }
            case .leftOut: continue
            }
        }
        return try finish(donations, summary, at: nil, &interrupted)
    }

    private func finish(
        _ donations: Donations, _ summary: Summary, at end: RecordCursor?, _ interrupted: inout InterruptedFile?
    ) throws -> RecordCursor? {
        try donations.finish()
        if let end, let records = summary.interrupted { interrupted = InterruptedFile(cursor: end, records: records) }
        for (path, state) in summary.states { try states.store(state, path) }
        // If a disk is unmounted during the walk, its folder looks empty.
        if settings.isComplete { try folders.check() }
        let findings = "\(summary.skipped) skipped"
        if summary.isFirstPage, end == nil {
            let count = donations.count == 1 ? "1 \(noun)" : "\(donations.count) \(noun.plural)"
            progress.say(settings.absence ?? "\(count), \(findings)")
        } else if summary.skipped > 0 {
            // The host counts the items of all pages.
            progress.say(findings)
        }
        return end
    }

    /// Donates the records in a file, starting at a position. A file that cannot be read is
    /// reported.
    ///
    /// - Parameter known: The records, if they have already been read.
    /// - Returns: The position at which the page ended; nil after the last record.
    private func donate(
        _ file: File, from start: Int, known: FileRecords? = nil, _ donations: Donations, _ summary: inout Summary,
        isFull: (_ records: Int) -> Bool
    ) throws -> RecordCursor? {
        progress.reading(file.path)
        let found: FileRecords
        do throws(SkipReason) {
            if let known { found = known } else { found = try read(file) }
        } catch {
            leaveOut(file.path, error.kind, &summary)
            if error.keepsItems { try donations.keepItems(at: file.path) }
            return nil
        }
        if start == 0, let reason = found.leftOut { leaveOut(file.path, reason, &summary) }
        var position = min(start, found.records.count)
        while position < found.records.count {
            if isFull(position - start) || position > start && summary.named >= Self.maximumReports {
                summary.interrupted = found
                return RecordCursor(path: file.path, records: position)
            }
            try donate(found.records[position], of: file.path, donations, &summary)
            position += 1
        }
        if found.records.count >= RecordDigests.minimumRecords {
            summary.states.append((file.path, RecordDigests(found.records)))
        }
        return nil
    }

    /// - Returns: `true` if the record has an item.
    @discardableResult
    private func donate(
        _ record: FileRecord, of path: String, _ donations: Donations, _ summary: inout Summary
    ) throws -> Bool {
        progress.reading(path)
        let identifier = RecordIdentifier(path: path, key: record.key)
        guard identifier.isAcceptable else {
            leaveOut(path, "its path and identifier are too long", &summary)
            return false
        }
        let made: FileItem
        do throws(RecordFault) {
            made = try record.item()
        } catch {
            leaveOut(identifier.text, error.description, &summary)
            return false
        }
        try donations.add(made.item, size: made.size)
        for remark in made.remarks where summary.remarks < Self.maximumReports {
            summary.remarks += 1
            progress.say(remark)
        }
        if let reason = made.leftOut, mayName(&summary) { index.reportLeftOut(identifier.text, reason: reason) }
        return true
    }

    private func leaveOut(_ name: String, _ reason: String, _ summary: inout Summary) {
        summary.skipped += 1
        guard mayName(&summary) else { return }
        progress.say("skipped \(name.onOneLine): \(reason)")
        index.reportLeftOut(name, reason: reason)
    }

    /// Returns `true` if another record or file may be named as left out.
    private func mayName(_ summary: inout Summary) -> Bool {
        summary.named += 1
        return summary.named <= Self.maximumReports
    }

    // MARK: Some records

    /// Donates the records with these identifiers, and deletes the items of records that no longer
    /// exist.
    package func update(_ identifiers: [String]) throws {
        let donations = Donations(to: index) { progress.madeProgress() }
        var summary = Summary()
        var keys: [String: Set<String>] = [:]
        for text in identifiers {
            if let identifier = RecordIdentifier(text) {
                keys[identifier.path, default: []].insert(identifier.key)
            } else {
                try donations.delete(text)
            }
        }
        // Sorted, so that the order is deterministic.
        for (path, keys) in keys.sorted(by: { $0.key < $1.key }) {
            var missing = keys
            if let file = try file(at: path, &summary) {
                guard let file = file.value, let records = try records(of: file, &summary) else { continue }
                for record in records where missing.contains(record.key) {
                    if try donate(record, of: path, donations, &summary) { missing.remove(record.key) }
                }
            }
            for key in missing.sorted() { try donations.delete(RecordIdentifier(path: path, key: key).text) }
        }
        try donations.finish()
    }

    // MARK: Changed files

    /// Renames the items of moved files, donates the changed records in these files, and deletes
    /// the items of records that no longer exist.
    ///
    /// - Parameter ignoreFiles: The `.searchlightignore` files that changed.
    package func update(files paths: [String], moves: [FileMove], ignoreFiles: [String]) throws {
        let donations = Donations(to: index) { progress.madeProgress() }
        var summary = Summary()
        let renames = folders.renames(moves)
        var renamed: [String: String] = [:]
        for (old, new) in renames.sorted(by: { $0.key < $1.key }) {
            for item in try index.itemIdentifiers(withPrefix: RecordIdentifier.prefix(of: old)) {
                guard let identifier = RecordIdentifier(item) else { continue }
                renamed[item] = RecordIdentifier(path: new, key: identifier.key).text
            }
        }
        try donations.rename(renamed)
        // The items are listed again below.
        try donations.finish()
        // A renamed item's attributes still contain the old path.
        for move in moves { try update(move.new, isMoved: true, donations, &summary) }
        let moved = Set(moves.map(\.new))
        let rest = Set(paths + moves.map(\.old).filter { renames[$0] == nil }).subtracting(moved)
        for path in rest.sorted() { try update(path, isMoved: false, donations, &summary) }
        try refresh(besideIgnoreFiles: ignoreFiles, donations, &summary)
        try donations.finish()
        for (path, state) in summary.states { try states.store(state, path) }
    }

    private func update(
        _ path: String, isMoved: Bool, _ donations: Donations, _ summary: inout Summary
    ) throws {
        var old = Set(try index.itemIdentifiers(withPrefix: RecordIdentifier.prefix(of: path)))
        if let file = try file(at: path, &summary) {
            guard let file = file.value, let records = try records(of: file, &summary) else { return }
            let state = RecordDigests(records)
            let stored = try states.load(path)
            // A state without items is ignored, because something else deleted the items.
            let known = isMoved || old.isEmpty ? nil : stored
            for record in records {
                let identifier = RecordIdentifier(path: path, key: record.key).text
                let isKnown = known?.hasSame(record.key, as: state) == true && old.contains(identifier)
                if try isKnown || donate(record, of: path, donations, &summary) { old.remove(identifier) }
            }
            if stored != nil || records.count >= RecordDigests.minimumRecords {
                summary.states.append((path, state))
            }
        }
        for identifier in old.sorted() { try donations.delete(identifier) }
    }

    /// A file, or nil if its items are kept although it cannot be read now.
    private struct Kept { var value: File? }

    /// Returns the file at a path; nil if it no longer exists.
    private func file(at path: String, _ summary: inout Summary) throws -> Kept? {
        switch try folders.state(ofIdentifier: path, isComplete: settings.isComplete) {
        case .file(let file): return Kept(value: file)
        case .gone(let reason):
            if case .skipped(let skip) = reason { leaveOut(skip.path, skip.reason.kind, &summary) }
            return reason?.keepsItems == true ? Kept(value: nil) : nil
        case .kept(let complaint):
            progress.say(complaint)
            return Kept(value: nil)
        }
    }

    /// Returns the records in a file; none if its content is unusable, and nil if its items are
    /// kept although it cannot be read now.
    private func records(of file: File, _ summary: inout Summary) throws -> [FileRecord]? {
        progress.reading(file.path)
        do throws(SkipReason) {
            let found = try read(file)
            if let reason = found.leftOut { leaveOut(file.path, reason, &summary) }
            return found.records
        } catch {
            let skip = Skip(path: file.path, reason: error)
            if FileLookupError.skipped(skip).mayPass { throw skip }
            leaveOut(file.path, error.kind, &summary)
            return error.keepsItems ? nil : []
        }
    }

    /// Donates the files that the ignore files' patterns no longer exclude, and deletes the items
    /// of files that they now exclude.
    private func refresh(
        besideIgnoreFiles files: [String], _ donations: Donations, _ summary: inout Summary
    ) throws {
        for file in Set(files).sorted() {
            guard let walk = folders.walk(besideIgnoreFile: file, visiting: progress.walking) else { continue }
            for step in walk {
                switch step {
                case .file(let file): _ = try donate(file, from: 0, donations, &summary) { _ in false }
                case .skipped(let skip): leaveOut(skip.path, skip.reason.kind, &summary)
                case .leftOut(let path):
                    for item in try index.itemIdentifiers(withPrefix: RecordIdentifier.prefix(of: path)) {
                        try donations.delete(item)
                    }
                }
            }
        }
    }

    // MARK: One record

    /// Returns the file that an item comes from, and the key of its record.
    ///
    /// - Throws: `CocoaError.fileNoSuchFile` if the file no longer exists, so that the host removes
    ///   the item.
    package static func file(
        of identifier: String, _ settings: FolderSettings
    ) throws -> (file: File, key: String) {
        guard let record = RecordIdentifier(identifier) else { throw CocoaError(.fileNoSuchFile) }
        do throws(FileLookupError) {
            return (try settings.servedFolders(File.self).file(withIdentifier: record.path), record.key)
        } catch {
            if error.isGone { throw CocoaError(.fileNoSuchFile) }
            throw error
        }
    }
}
