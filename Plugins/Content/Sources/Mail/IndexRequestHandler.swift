// SPDX-License-Identifier: Apache-2.0
import ContentSupport
import CoreSpotlight
import MailMessages
import Synchronization

/// The index extension for mail in Maildir, mbox and Thunderbird's folders: indexes, serves and
/// renders messages.
///
/// Each request reads the settings and folders again, so requests can run concurrently. Values that
/// are kept between requests only save time.
class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    let readSettings: () throws -> MailSettings
    let report: (String) -> Void
    let now: () -> ContinuousClock.Instant
    let deliveries: Deliveries
    let states: MboxStates
    let isThrottled = Mutex(false)
    /// The folders and the last Maildir of a reindex.
    let listings = Mutex(ReindexListings())

    /// Reads the user's settings and reports problems to standard error.
    override convenience init() {
        self.init(
            settings: { try MailSettings(environment: ProcessInfo.processInfo.environment) },
            report: ProgressLines.standardError)
    }

    /// - Parameters:
    ///   - settings: Called once for each request.
    ///   - report: Receives one line at a time.
    ///   - now: The clock that limits the rate of progress reports and the duration of pages.
    ///   - temporaryFolder: The folder for messages and attachments that are delivered as files.
    ///   - states: Where the states of mboxes are stored.
    init(
        settings: @escaping () throws -> MailSettings, report: @escaping (String) -> Void,
        now: @escaping () -> ContinuousClock.Instant = { ContinuousClock.now },
        temporaryFolder: URL = FileManager.default.temporaryDirectory, states: MboxStates = .inIndex
    ) {
        readSettings = settings
        self.report = report
        self.now = now
        self.states = states
        deliveries = Deliveries(temporaryFolder.appending(path: "delivered", directoryHint: .isDirectory))
        super.init()
    }

    func progressLines() -> ProgressLines { ProgressLines(print: report, now: now) }

    override func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) {
        isThrottled.withLock { $0 = true }
    }

    override func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {
        isThrottled.withLock { $0 = false }
    }

    // MARK: Items

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) {
        do {
            try reindex(searchableIndex, identifiers)
            acknowledgementHandler()
        } catch {
            report("reindexing \(identifiers.count) messages failed: \(error)")
        }
    }

    private func reindex(_ index: CSSearchableIndex, _ identifiers: [String]) throws {
        let settings = try readSettings()
        let progress = progressLines()
        let donations = DonationBatches(to: index, onSend: { progress.madeProgress() })
        var wanted: [MessageIdentifier] = []
        for text in identifiers {
            if let identifier = MessageIdentifier(text) {
                wanted.append(identifier)
            } else {
                try donations.delete(text)
            }
        }
        // In the order of the folders, so that each folder is read once.
        wanted.sort { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        var rest = wanted[...]
        while let path = rest.first?.folder {
            let group = rest.prefix { $0.folder.utf8.elementsEqual(path.utf8) }
            rest = rest.dropFirst(group.count)
            if MailFolders.isAway(path, settings) {
                progress.say("\(path.onOneLine) is in a folder that is missing; its messages are kept")
                continue
            }
            let isUnknown = !settings.problems.isEmpty && !MailFolders.isServed(path, settings)
            if isUnknown || MailFolders.isClosed(path) {
                progress.say(
                    "\(path.onOneLine) \(isUnknown ? "is in no known folder" : "may not be read"); its messages are kept"
                )
                continue
            }
            try reindex(group, in: MailFolders.folder(at: path, settings), donations, progress)
        }
        try donations.finish()
    }

    /// Donates a folder's messages, and deletes the items of messages that no longer exist.
    ///
    /// - Parameter folder: nil if the folder does not exist.
    private func reindex(
        _ identifiers: ArraySlice<MessageIdentifier>, in folder: MailFolder?, _ donations: DonationBatches,
        _ progress: ProgressLines
    ) throws {
        var missing = Set(identifiers)
        if let folder {
            let visiting = { progress.reading(folder.path) }
            try LocatedMessage.find(Array(identifiers), in: folder, visiting: visiting) { identifier, located in
                var message = located.bytes.withUnsafeBytes { Message($0) }
                message.flags.formUnion(located.flags)
                if message.identifier != identifier.message || message.flags.contains(.deleted) { return }
                let found = FoundMessage(
                    identifier: identifier, message: message, folder: folder, file: located.file,
                    size: located.size, isTooLarge: located.size > Int64(Message.Limits.size))
                progress.sayOmissions(of: found)
                try donations.add(CSSearchableItem(found), textBytes: message.text.utf8.count)
                missing.remove(identifier)
            }
        }
        for identifier in identifiers where missing.remove(identifier) != nil { try donations.delete(identifier.text) }
    }

    // MARK: Promises

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        let located = try locate(itemIdentifier)
        switch typeIdentifier {
        case UTType.savedEmailMessage.identifier, UTType.emailMessage.identifier: return Data(located.bytes)
        case UTType.utf8PlainText.identifier: return Data(MessagePage.plainText(located).utf8)
        case UTType.html.identifier:
            let html = located.bytes.withUnsafeBytes { Message.html(of: $0, limit: Message.Limits.size) }
            guard let html else { throw UnsupportedType(typeIdentifier) }
            return Data(html.utf8)
        default: throw UnsupportedType(typeIdentifier)
        }
    }

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        let located = try locate(itemIdentifier)
        let message = located.bytes.withUnsafeBytes { Message($0) }
        if [UTType.savedEmailMessage, .emailMessage].map(\.identifier).contains(typeIdentifier) {
            if inPlace {
                guard let file = located.file else { throw UnsupportedType("\(typeIdentifier) in place") }
                return URL(filePath: file, directoryHint: .notDirectory)
            }
            return try deliveries.deliver(Data(located.bytes), name: message.title + ".eml")
        }
        guard !inPlace, let attachment = message.attachments.first(where: { $0.typeIdentifier == typeIdentifier }),
            let data = located.bytes.withUnsafeBytes({ Message.attachment(part: attachment.part, of: $0) })
        else { throw UnsupportedType(typeIdentifier) }
        return try deliveries.deliver(data, name: attachment.name.isEmpty ? "attachment" : attachment.name)
    }

    /// Finds the message of an item.
    ///
    /// - Throws: `CocoaError.fileNoSuchFile` if the message no longer exists.
    private func locate(_ text: String) throws -> LocatedMessage {
        let settings = try readSettings()
        let progress = progressLines()
        guard let identifier = MessageIdentifier(text), MailFolders.isServed(identifier.folder, settings),
            let located = try LocatedMessage(identifier, settings, visiting: { progress.reading(identifier.folder) })
        else { throw CocoaError(.fileNoSuchFile) }
        return located
    }

    // MARK: Previews

    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        let page = MessagePage(try locate(identifier))
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { reply in
            for (name, picture) in page.pictures {
                reply.attachments[name] = QLPreviewReplyAttachment(data: picture.data, contentType: picture.type)
            }
            return Data(page.html.utf8)
        }
        reply.title = page.title
        return reply
    }
}

extension ProgressLines {
    /// Prints the reasons why an item lacks parts of its message.
    func sayOmissions(of found: FoundMessage) {
        let reasons = found.omissions.map(\.description)
        if reasons.isEmpty { return }
        say("\((found.file ?? found.identifier.text).onOneLine) is \(reasons.joined(separator: ", "))")
    }
}

/// The error for a type that the message does not have.
struct UnsupportedType: Error, Equatable, CustomStringConvertible {
    var description: String

    init(_ type: String) { description = "The message is not available as \(type)." }
}

/// Files for receivers, in the worker's temporary folder. Only the newest files are kept.
final class Deliveries: Sendable {
    static let maximumCount = 16

    private let folder: URL
    private let made = Mutex<(next: Int, folders: [URL])>((0, []))

    init(_ folder: URL) { self.folder = folder }

    /// Writes a file under a name and returns its URL.
    func deliver(_ data: Data, name: String) throws -> URL {
        let (own, old): (URL, URL?) = made.withLock { made in
            made.next += 1
            let own = folder.appending(path: "\(made.next)", directoryHint: .isDirectory)
            made.folders.append(own)
            return (own, made.folders.count > Self.maximumCount ? made.folders.removeFirst() : nil)
        }
        if let old { try? FileManager.default.removeItem(at: old) }
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        let file = own.appending(path: Self.fileName(name), directoryHint: .notDirectory)
        try data.write(to: file)
        return file
    }

    /// Returns a valid file name: without slashes and control characters, at most 120 bytes, not
    /// hidden.
    static func fileName(_ name: String) -> String {
        var result = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { scalar in
                    scalar == "/" || scalar == "\\" || scalar.properties.generalCategory == .control ? "_" : scalar
                }))
        let ending = result.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(result[$0...]) } ?? ""
        let kept = ending.utf8.count <= 12 ? ending : ""
        if result.utf8.count > 120 {
            while result.utf8.count + kept.utf8.count > 120 { result.removeLast() }
            result += kept
        }
        while let first = result.first, first == "." || first.isWhitespace { result.removeFirst() }
        return result.isEmpty ? "message" : result
    }
}
