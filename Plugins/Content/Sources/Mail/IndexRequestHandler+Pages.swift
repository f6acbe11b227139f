// SPDX-License-Identifier: Apache-2.0
import ContentSupport
import CoreSpotlight
import MailMessages

/// The listings of a reindex, kept between its pages to save time.
struct ReindexListings {
    var folders: [MailFolder]?
    var maildir: (path: String, files: [MaildirFile])?
}

extension IndexRequestHandler: CSPagedReindexHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexPage page: CSReindexPage,
        acknowledgementHandler: @escaping @Sendable (_ nextCursor: Data?) -> Void
    ) {
        do {
            let next = try reindex(searchableIndex, page)
            acknowledgementHandler(next?.data)
        } catch {
            // Without an acknowledgement, the host requests the page again.
            report("reindexing failed: \(error)")
        }
    }

    /// Donates one page, and returns the position of the next page; nil after the last message.
    private func reindex(_ index: CSSearchableIndex, _ page: CSReindexPage) throws -> PageCursor? {
        let settings = try readSettings()
        let progress = progressLines()
        let cursor = page.cursor.flatMap(PageCursor.init)
        if let problem = settings.problems.first {
            settings.problems.dropFirst().forEach(progress.say)
            // Some folders are unknown, and the host would delete the items of their messages.
            throw UnusableSettings(description: problem)
        }
        let work = PageWork(page, index, progress, states, now: now) { [unowned self] in isThrottled.withLock { $0 } }
        let folders = try folders(settings, index, isFirst: cursor == nil, progress, work)
        let path = cursor?.folder ?? ""
        for folder in folders.drop(while: { $0.path.utf8.lexicographicallyPrecedes(path.utf8) }) {
            let resumed = folder.path.utf8.elementsEqual(path.utf8) ? cursor : nil
            let next =
                switch folder.format {
                case .maildir: try readMaildir(folder, resumed, work)
                case .mbox: try readMbox(folder, resumed, work)
                }
            guard let next else { continue }
            // Without a cursor this page would be the last, and the host would delete the items of
            // all remaining folders.
            guard next.data != nil else {
                work.leaveOut(folder.path, .identifierTooLong)
                continue
            }
            try work.finish()
            return next
        }
        try work.finish()
        listings.withLock { $0 = ReindexListings() }
        return nil
    }

    /// Returns the mail folders. The first page of a reindex finds them and reports the omitted
    /// ones.
    private func folders(
        _ settings: MailSettings, _ index: CSSearchableIndex, isFirst: Bool, _ progress: ProgressLines,
        _ work: PageWork
    ) throws -> [MailFolder] {
        if !isFirst, let known = listings.withLock({ $0.folders }) { return known }
        let found = MailFolders(settings) { progress.reading($0) }
        if isFirst {
            for (path, reason) in found.leftOut {
                if settings.named.contains(path) {
                    // The host keeps the items of a listed folder that is missing.
                    let text = reason == .notThere ? "is missing; its messages are kept" : "was left out: \(reason)"
                    progress.say("\(path.onOneLine) \(text)")
                }
                if reason.keepsItems { try work.keepItems(withPrefix: path + "/") }
            }
            for omission in found.leftOut.prefix(1000) {
                index.reportLeftOut(omission.path, reason: "\(omission.reason)")
            }
        }
        listings.withLock { $0 = ReindexListings(folders: found.folders, maildir: nil) }
        return found.folders
    }

    private func readMaildir(_ folder: MailFolder, _ cursor: PageCursor?, _ work: PageWork) throws -> PageCursor? {
        let known = listings.withLock { $0.maildir }
        let files: [MaildirFile]
        if cursor?.file != nil, let known, known.path == folder.path {
            files = known.files
        } else {
            do throws(LeftOutReason) {
                files = try DirectoryNames.messages(of: folder.path) { work.visit(folder.path) }
            } catch {
                work.leaveOut(folder.path, error)
                if error.keepsItems { try work.keepItems(withPrefix: MessageIdentifier.prefix(of: folder.path)) }
                return nil
            }
            listings.withLock { $0.maildir = (folder.path, files) }
        }
        var position = 0
        var last = cursor?.file
        if let last {
            // A binary search for the first file after the last file of the previous page.
            var upper = files.count
            while position < upper {
                let middle = (position + upper) / 2
                if last.utf8.lexicographicallyPrecedes(files[middle].name.utf8) {
                    upper = middle
                } else {
                    position = middle + 1
                }
            }
        }
        while position < files.count {
            if try work.isUsedUp() { return PageCursor(folder: folder.path, file: last) }
            let file = files[position]
            work.visit(folder.path)
            // A missing file was moved or got other flags, which the host reports as a change.
            if case .leftOut(let omission) = try work.take(folder.read(file)), omission.reason != .notThere {
                work.leaveOut(omission)
                if omission.reason.keepsItems {
                    try work.keepItems(withPrefix: MessageIdentifier.prefix(of: folder.path, unique: file.unique))
                }
            }
            last = file.name
            position += 1
        }
        return nil
    }

    private func readMbox(
        _ folder: MailFolder, _ cursor: PageCursor?, _ work: PageWork
    ) throws -> PageCursor? {
        do throws(LeftOutReason) {
            let file = try OpenFile(folder.path)
            // The mailbox may have been rewritten between two pages.
            let offset = cursor?.offset.flatMap { MboxReader.isStart(file, at: $0) || $0 == file.size ? $0 : 0 } ?? 0
            var reader = MboxReader(file, from: offset) { work.visit(folder.path) }
            var last = offset
            while let entry = try reader.next() {
                if try work.isUsedUpOrFailed() { return PageCursor(folder: folder.path, offset: entry.start) }
                last = entry.start
                let reading = try folder.read(entry, with: reader)
                if case .leftOut(let omission)? = work.takeOrFail(reading) { work.leaveOut(omission) }
            }
            work.finishedMbox(folder.path, try MboxState(file, last: last))
        } catch {
            work.leaveOut(folder.path, error)
            if error.keepsItems { try work.keepItems(withPrefix: MessageIdentifier.prefix(of: folder.path)) }
        }
        try work.throwFailure()
        return nil
    }
}

/// The error for a reindex that would delete items of messages that may exist.
private struct UnusableSettings: Error, CustomStringConvertible {
    var description: String
}

/// The work for one page: donates messages until the budget is used up. Not thread-safe.
final class PageWork {
    /// The number of messages after which a page ends while the host throttles the extension.
    static let throttledCount = 50
    /// The maximum number of omissions that a page reports by name.
    static let maximumOmissions = 500

    private let page: CSReindexPage
    private let index: CSSearchableIndex
    private let progress: ProgressLines
    private let donations: DonationBatches
    private let stored: MboxStates
    private let now: () -> ContinuousClock.Instant
    private let isThrottled: () -> Bool
    private let deadline: ContinuousClock.Instant
    private var count = 0
    private var omissions = 0
    private var failure: (any Error)?
    private var states: [(path: String, state: MboxState)] = []

    init(
        _ page: CSReindexPage, _ index: CSSearchableIndex, _ progress: ProgressLines, _ stored: MboxStates,
        now: @escaping () -> ContinuousClock.Instant, isThrottled: @escaping () -> Bool
    ) {
        self.page = page
        self.index = index
        self.progress = progress
        self.stored = stored
        self.now = now
        self.isThrottled = isThrottled
        donations = DonationBatches(
            to: index, isCancelled: { page.isCancelled }, onSend: { progress.madeProgress() })
        deadline = now() + page.maximumDuration
    }

    /// Returns `true` if the page must end before the next message.
    ///
    /// - Throws: `CancellationError` if the host no longer waits and the page has no message yet.
    func isUsedUp() throws -> Bool {
        if page.isCancelled {
            if count == 0 { throw CancellationError() }
            return true
        }
        // A page has at least one message. Otherwise the host would request it again indefinitely.
        if count == 0 { return false }
        return count >= page.maximumItemCount || now() >= deadline || count >= Self.throttledCount && isThrottled()
    }

    /// Does the same as ``isUsedUp()``, but keeps an error for ``throwFailure()``. The caller can
    /// only throw a `LeftOutReason`.
    func isUsedUpOrFailed() throws(LeftOutReason) -> Bool {
        if failure != nil { return true }
        do { return try isUsedUp() } catch {
            failure = error
            return true
        }
    }

    /// Donates a message, and returns what was read.
    func take(_ reading: MailFolder.Reading) throws -> MailFolder.Reading {
        count += 1
        guard case .message(let found) = reading else { return reading }
        if !found.omissions.isEmpty { say(found) }
        try donations.add(CSSearchableItem(found), textBytes: found.message.text.utf8.count)
        return reading
    }

    func takeOrFail(_ reading: MailFolder.Reading) -> MailFolder.Reading? {
        do { return try take(reading) } catch {
            failure = failure ?? error
            return nil
        }
    }

    /// Throws the stored error.
    func throwFailure() throws { if let failure { throw failure } }

    private func say(_ found: FoundMessage) {
        omissions += 1
        if omissions <= Self.maximumOmissions { progress.sayOmissions(of: found) }
    }

    /// Keeps the items of messages that cannot be read now.
    func keepItems(withPrefix prefix: String) throws { try donations.keepItems(withPrefix: prefix) }

    func leaveOut(_ omission: LeftOutMessage) { leaveOut(omission.name, omission.reason) }

    func leaveOut(_ name: String, _ reason: LeftOutReason) {
        omissions += 1
        guard omissions <= Self.maximumOmissions else { return }
        index.reportLeftOut(name, reason: reason.description)
    }

    /// Reports progress to the host.
    func visit(_ path: String) { progress.reading(path) }

    /// Records how far an mbox was read. The state is stored when everything is durable.
    func finishedMbox(_ path: String, _ state: MboxState) { states.append((path, state)) }

    /// Returns when everything is durable.
    func finish() throws {
        try throwFailure()
        try donations.finish()
        for (path, state) in states { try stored.set(state, path) { page.isCancelled } }
    }
}

/// The states of mboxes, by path.
struct MboxStates: Sendable {
    /// Reads the state of a mailbox; nil if there is none.
    var state: @Sendable (_ path: String) throws -> MboxState?
    /// Stores a state, and returns when it is durable.
    var set: @Sendable (_ state: MboxState, _ path: String, _ isCancelled: () -> Bool) throws -> Void

    /// Each mbox has a named index without items. Its client state is the state of the mbox. If the
    /// items are lost, so are the client states.
    static let inIndex = MboxStates(
        state: { try index(of: $0).clientState().flatMap { MboxState(String(decoding: $0, as: UTF8.self)) } },
        set: { try index(of: $1).setClientState(Data($0.text.utf8), isCancelled: $2) })

    private static func index(of path: String) -> CSSearchableIndex {
        CSSearchableIndex(name: "mbox-" + FNV1a.hash(path.utf8).hexadecimal)
    }
}
