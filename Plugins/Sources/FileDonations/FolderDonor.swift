// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileReading

/// The item for a file, and the limitations with which it is indexed.
package struct FileItem {
    package var item: CSSearchableItem
    /// The size of the item's texts and pictures, in bytes.
    package var size: Int
    /// Warnings about the file, one line each.
    package var remarks: [String] = []
    /// The limitations that a reindex summary counts, such as "indexed in part".
    package var limitations: [String] = []
    /// The reason why some of the file's contents are not indexed, worded the same for all files of
    /// a kind.
    package var leftOut: String?

    package init(_ item: CSSearchableItem, size: Int) {
        self.item = item
        self.size = size
    }
}

/// Donates the files of configured folders, one request at a time.
///
/// Not thread-safe: create one for each request.
package struct FolderDonor<File: ServedFile> {
    private let index: CSSearchableIndex
    private let settings: FolderSettings
    private let folders: ServedFolders<File>
    private let noun: String
    private let progress: ProgressReport
    private let makeItem: (File, ProgressReport) throws(SkipReason) -> FileItem

    /// - Parameters:
    ///   - noun: The noun for one file in reports, such as "note".
    ///   - item: Returns the item for a file, or throws the reason why it cannot be read.
    package init(
        to index: CSSearchableIndex, _ settings: FolderSettings, noun: String, progress: ProgressReport,
        item: @escaping (File, ProgressReport) throws(SkipReason) -> FileItem
    ) {
        self.index = index
        self.settings = settings
        self.noun = noun
        self.progress = progress
        folders = settings.servedFolders()
        makeItem = item
    }

    // MARK: Everything

    /// Donates all files. The reindex removes items that it does not donate again. If a folder is
    /// missing, the reindex removes nothing, since the index cannot list the contents of one
    /// folder; the item of a deleted file then remains until the folder is available again.
    ///
    /// - Parameter sampleItems: The number of items after which the reindex ends; 0 for all.
    package func donateAll(sampleItems: Int) throws {
        settings.problems.forEach(progress.say)
        let donations = Donations(to: index) { progress.madeProgress() }
        if settings.isComplete { try donations.deleteAll() }
        var summary = Summary(skipped: settings.problems.count)
        for step in folders.walk(visiting: progress.walking) {
            if sampleItems > 0, donations.count >= sampleItems { break }
            try take(step, donations, &summary)
        }
        try finish(donations)
        progress.say(settings.absence ?? summary.line(count(of: donations.count)))
    }

    /// Reports what was skipped or indexed incompletely on a page. The host counts the items of all
    /// pages.
    private func report(_ summary: Summary) {
        if summary.hasFindings { progress.say(summary.findings) }
    }

    /// Donates the files that follow a path, up to a limit.
    ///
    /// - Parameters:
    ///   - after: The last file of the previous page; nil for the first page.
    ///   - items: The number of items after which the page ends.
    ///   - isOver: Called after each file; the page ends when it returns `true`.
    /// - Returns: The last file of the page; nil if no files follow.
    package func donatePage(after: String?, items: Int, isOver: () -> Bool) throws -> String? {
        // The error of the request contains the problem that is not reported here.
        if after == nil { settings.problems.filter { $0 != settings.unreadable }.forEach(progress.say) }
        // The host keeps the items of a watched folder that is missing, and deletes all others.
        if let problem = settings.unreadable { throw IncompleteSettings(description: problem) }
        let donations = Donations(to: index) { progress.madeProgress() }
        var summary = Summary(skipped: after == nil ? settings.problems.count : 0)
        var last: String?
        for step in folders.walk(after: after, visiting: progress.walking) {
            try take(step, donations, &summary)
            guard case .file(let file) = step else { continue }
            last = file.path
            if donations.count >= items || isOver() {
                try finish(donations)
                report(summary)
                return last
            }
        }
        try finish(donations)
        if after == nil {
            progress.say(settings.absence ?? summary.line(count(of: donations.count)))
        } else {
            report(summary)
        }
        return nil
    }

    private func take(
        _ step: FolderWalk<File>.Step, _ donations: Donations, _ summary: inout Summary
    ) throws {
        switch step {
        case .file(let file):
            let made: FileItem
            do throws(SkipReason) {
                made = try makeItem(file, progress)
            } catch {
                summary.skipped += 1
                return try skip(Skip(path: file.path, reason: error), donations)
            }
            try donate(made, of: file.path, donations, &summary)
        case .skipped(let skip):
            if settings.isComplete, folders.lost(skip) { throw skip }
            summary.skipped += 1
            try self.skip(skip, donations)
        case .leftOut: break
        }
    }

    private func skip(_ skip: Skip, _ donations: Donations) throws {
        progress.say(skip.description)
        index.reportLeftOut(skip.path, reason: skip.reason.kind)
        if skip.reason.keepsItems { try donations.keepItems(at: skip.path) }
    }

    private func donate(
        _ made: FileItem, of path: String, _ donations: Donations, _ summary: inout Summary
    ) throws {
        try donations.add(made.item, size: made.size)
        made.remarks.forEach(progress.say)
        for limitation in made.limitations { summary.limitations[limitation, default: 0] += 1 }
        if let reason = made.leftOut { index.reportLeftOut(path, reason: reason) }
    }

    private func finish(_ donations: Donations) throws {
        try donations.finish()
        // If a disk is unmounted during the walk, its folder looks empty.
        if settings.isComplete { try folders.check() }
    }

    private func count(of files: Int) -> String { files == 1 ? "1 \(noun)" : "\(files) \(noun)s" }

    private struct Summary {
        var skipped: Int
        var limitations: [String: Int] = [:]
        /// `true` if a file was skipped or indexed incompletely.
        var hasFindings: Bool { skipped > 0 || !limitations.isEmpty }

        var findings: String {
            let parts = limitations.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            return (["\(skipped) skipped"] + parts).joined(separator: ", ")
        }

        func line(_ count: String) -> String { "\(count), \(findings)" }
    }

    // MARK: Some files

    /// Renames the items of moved files, then donates or deletes the files with these identifiers.
    ///
    /// - Parameter ignoreFiles: The `.searchlightignore` files that changed.
    package func update(_ identifiers: [String], moves: [FileMove], ignoreFiles: [String]) throws {
        let donations = Donations(to: index)
        let renames = folders.renames(moves)
        try donations.rename(renames)
        // A file that could not be read may be readable now.
        let all = identifiers + moves.map(\.new) + moves.map(\.old).filter { renames[$0] == nil }
        let unread = try update(update(all, donations).map(\.identifier), donations)
        try refresh(besideIgnoreFiles: ignoreFiles, donations)
        try donations.finish()
        // If no file can be read, the machine is the likely cause, so throw an error: the host then
        // requests all files again. Otherwise the files are the cause.
        if unread.count == all.count, ignoreFiles.isEmpty, let first = unread.first { throw first.error }
        for file in unread { progress.say("\(file.error); its item is kept") }
    }

    private func update(
        _ identifiers: [String], _ donations: Donations
    ) throws -> [(identifier: String, error: FileLookupError)] {
        try identifiers.compactMap { identifier in
            do { try update(identifier, donations) } catch let error as FileLookupError { return (identifier, error) }
            return nil
        }
    }

    /// - Throws: A ``FileLookupError`` that may be temporary, or the error of a donation.
    private func update(_ identifier: String, _ donations: Donations) throws {
        var summary = Summary(skipped: 0)
        switch try folders.state(ofIdentifier: identifier, isComplete: settings.isComplete) {
        case .file(let file):
            let made: FileItem
            do throws(SkipReason) {
                made = try makeItem(file, progress)
            } catch {
                let error = FileLookupError.skipped(Skip(path: identifier, reason: error))
                if error.mayPass { throw error }
                return try delete(identifier, error.isGone ? nil : error, donations)
            }
            try donate(made, of: identifier, donations, &summary)
        case .gone(let reason): try delete(identifier, reason, donations)
        case .kept(let complaint): progress.say(complaint)
        }
    }

    /// Deletes an item, unless its file exists but cannot be read now.
    private func delete(_ identifier: String, _ reason: FileLookupError?, _ donations: Donations) throws {
        if let reason, reason.keepsItems, try index.hasItem(identifier) {
            return progress.say("\(reason); its item is kept")
        }
        if let reason { progress.say("\(reason)") }
        if case .skipped(let skip) = reason { index.reportLeftOut(skip.path, reason: skip.reason.kind) }
        try donations.delete(identifier)
    }

    /// Donates the files that the ignore files' patterns no longer exclude, and deletes the files
    /// that they now exclude.
    private func refresh(besideIgnoreFiles files: [String], _ donations: Donations) throws {
        var summary = Summary(skipped: 0)
        // Sorted, so that the order is deterministic.
        for file in Set(files).sorted() {
            guard let walk = folders.walk(besideIgnoreFile: file, visiting: progress.walking) else { continue }
            for step in walk {
                if case .leftOut(let path) = step {
                    try donations.delete(path)
                } else if case .skipped(let skip) = step {
                    try self.skip(skip, donations)
                } else {
                    try take(step, donations, &summary)
                }
            }
        }
    }
}

/// The error for a reindex that would delete items of files that may exist.
struct IncompleteSettings: Error, CustomStringConvertible {
    var description: String
}
