// SPDX-License-Identifier: Apache-2.0
import ContentSupport
import CoreSpotlight
import MailMessages

extension IndexRequestHandler: CSFileChangeHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, updateItemsForFileChanges changes: [CSFileChange],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        var paths: [String] = []
        for change in changes {
            switch change {
            case .changed(let file), .removed(let file): paths.append(file.path(percentEncoded: false))
            case .moved(let from, let to):
                paths += [from.path(percentEncoded: false), to.path(percentEncoded: false)]
            }
        }
        do {
            try FolderUpdate(self, searchableIndex).run(paths)
            acknowledgementHandler()
        } catch {
            // Without an acknowledgement, the host reports the changes again.
            report("updating the items of \(paths.count) files failed: \(error)")
        }
    }
}

/// Updates the items of changed files. Ignores the kinds of the changes, and compares the current
/// state of each file with the index. Then renames the items of moved messages, and donates the new
/// messages. Not thread-safe.
private final class FolderUpdate {
    private let handler: IndexRequestHandler
    private let index: CSSearchableIndex
    private let settings: MailSettings
    private let progress: ProgressLines
    private let donations: DonationBatches

    private var gone: Set<MessageIdentifier> = []
    private var fresh: [(folder: MailFolder, message: FreshMessage)] = []
    private var states: [(path: String, state: MboxState)] = []

    init(_ handler: IndexRequestHandler, _ index: CSSearchableIndex) throws {
        self.handler = handler
        self.index = index
        settings = try handler.readSettings()
        let progress = handler.progressLines()
        self.progress = progress
        donations = DonationBatches(to: index, onSend: { progress.madeProgress() })
    }

    func run(_ paths: [String]) throws {
        var maildirs: [String: [MaildirFile]] = [:]
        var mboxes: Set<String> = []
        for path in paths where MailFolders.isServed(path, settings) && !MailFolders.isAway(path, settings) {
            if let (folder, file) = MaildirFile.split(path) {
                maildirs[folder, default: []].append(file)
            } else if MailFolders.mayBeMailbox(path, settings) {
                mboxes.insert(path)
            }
        }
        // Sorted, so that the order is deterministic.
        for (folder, files) in maildirs.sorted(by: { $0.key < $1.key }) { try compareMaildir(folder, files) }
        for path in mboxes.sorted() { try compareMbox(path) }
        try renameMoved()
        for entry in fresh { try donate(entry.folder, entry.message) }
        for identifier in gone { try donations.delete(identifier.text) }
        try donations.finish()
        for (path, state) in states { try handler.states.set(state, path) { false } }
    }

    // MARK: Comparing

    private func compareMaildir(_ path: String, _ files: [MaildirFile]) throws {
        if MailFolders.isClosed(path) { return index.reportLeftOut(path, reason: "\(LeftOutReason.noPermission)") }
        let folder = MailFolders.folder(at: path, settings)
        var present: Set<String> = []
        if let folder {
            for file in files where MailFolders.isMessage(path, file) && present.insert(file.unique).inserted {
                fresh.append((folder, FreshMessage(message: nil, place: .file(file))))
            }
        }
        let missing = Set(files.map(\.unique)).subtracting(present)
        if missing.isEmpty { return }
        var renamed: [String: MaildirFile] = [:]
        if folder != nil, let all = try? DirectoryNames.messages(of: path, visiting: { progress.reading(path) }) {
            // A change of flags renames the file.
            for file in all where missing.contains(file.unique) { renamed[file.unique] = file }
        }
        for unique in missing.sorted() where renamed[unique] == nil {
            let prefix = MessageIdentifier.prefix(of: path, unique: unique)
            try index.listItems(withPrefix: prefix, pageSize: 4) { names in
                gone.formUnion(names.compactMap(MessageIdentifier.init))
                return true
            }
        }
        if let folder {
            for file in renamed.values { fresh.append((folder, FreshMessage(message: nil, place: .file(file)))) }
        }
    }

    private func compareMbox(_ path: String) throws {
        if MailFolders.isClosed(path) { return index.reportLeftOut(path, reason: "\(LeftOutReason.noPermission)") }
        guard let folder = MailFolders.folder(at: path, settings), folder.format == .mbox else {
            gone.formUnion(try known(path).map { MessageIdentifier(folder: path, message: $0, unique: nil) })
            return
        }
        let state = try storedState(of: path)
        do throws(LeftOutReason) {
            let file = try OpenFile(path)
            if let state, state.isSame(file) { return }
            let isContinued = state?.isContinued(file) == true
            let visiting = { [progress] in progress.reading(path) }
            let comparison =
                if isContinued, let state {
                    try MboxComparison(file, from: state.last, known: [], visiting: visiting)
                } else {
                    try MboxComparison(file, from: 0, known: knownOrNone(path), visiting: visiting)
                }
            fresh += comparison.fresh.map { (folder, $0) }
            gone.formUnion(comparison.gone.map { MessageIdentifier(folder: path, message: $0, unique: nil) })
            states.append((path, try MboxState(file, last: comparison.last)))
        } catch {
            index.reportLeftOut(path, reason: error.description)
        }
        if let failure { throw failure }
    }

    /// The first index error, for functions that can throw only a `LeftOutReason`.
    private var failure: (any Error)?

    /// Returns the stored state of an mbox. A state without items is ignored: the mbox was missing
    /// for a time, or a reindex left it out, and its items were deleted.
    private func storedState(of path: String) throws -> MboxState? {
        guard let state = try handler.states.state(path) else { return nil }
        var hasItems = false
        try index.listItems(withPrefix: MessageIdentifier.prefix(of: path), pageSize: 1) { _ in
            hasItems = true
            return false
        }
        return hasItems ? state : nil
    }

    private func knownOrNone(_ path: String) -> Set<String> {
        do { return try known(path) } catch {
            failure = failure ?? error
            return []
        }
    }

    /// Returns the Message-IDs of an mbox's items.
    private func known(_ path: String) throws -> Set<String> {
        var known: Set<String> = []
        try index.listItems(withPrefix: MessageIdentifier.prefix(of: path)) { names in
            for name in names { if let identifier = MessageIdentifier(name) { known.insert(identifier.message) } }
            progress.reading(path)
            return known.count < MboxReader.maximumMessages
        }
        return known
    }

    // MARK: Moving

    /// Renames the items of messages that disappeared from one folder and appeared in another, so
    /// that each message keeps its item.
    private func renameMoved() throws {
        if gone.isEmpty || fresh.isEmpty { return }
        // A message with several copies was not moved.
        var old = Dictionary(grouping: gone, by: \.message).filter { $0.value.count == 1 }.compactMapValues(\.first)
        var renames: [String: String] = [:]
        var targets: Set<String> = []
        for (folder, message) in fresh {
            progress.reading(folder.path)
            guard let known = messageIdentifier(folder, message), let before = old[known] else { continue }
            var unique: String?
            if case .file(let file) = message.place { unique = file.unique }
            let after = MessageIdentifier(folder: folder.path, message: known, unique: unique)
            guard after.isAcceptable, after != before, targets.insert(after.text).inserted else { continue }
            old[known] = nil
            renames[before.text] = after.text
            gone.remove(before)
        }
        try donations.rename(renames)
    }

    private func messageIdentifier(_ folder: MailFolder, _ message: FreshMessage) -> String? {
        if let known = message.message { return known }
        guard case .file(let file) = message.place, case .message(let found) = folder.read(file) else { return nil }
        return found.identifier.message
    }

    // MARK: Donating

    private var opened: (path: String, reader: MboxReader)?

    private func donate(_ folder: MailFolder, _ message: FreshMessage) throws {
        progress.reading(folder.path)
        let reading: MailFolder.Reading
        switch message.place {
        case .file(let file): reading = folder.read(file)
        case .entry(let entry):
            do throws(LeftOutReason) {
                let reader =
                    if let opened, opened.path == folder.path { opened.reader } else {
                        MboxReader(try OpenFile(folder.path))
                    }
                opened = (folder.path, reader)
                reading = try folder.read(entry, with: reader)
            } catch {
                return index.reportLeftOut(folder.path, reason: error.description)
            }
        }
        switch reading {
        case .message(let found):
            let text = found.message.text.utf8.count
            try donations.add(CSSearchableItem(found), textBytes: text)
            progress.sayOmissions(of: found)
        case .leftOut(let omission):
            // The file has disappeared again. Another change reports that.
            if omission.reason == .notThere { return }
            if omission.reason == .markedAsDeleted { try donations.delete(omission.name) }
            index.reportLeftOut(omission.name, reason: omission.reason.description)
        }
    }
}
