// SPDX-License-Identifier: Apache-2.0
import CMailReader

/// A message, with its folder and file.
package struct FoundMessage: Sendable {
    package var identifier: MessageIdentifier
    package var message: Message
    package var folder: MailFolder
    /// The file that contains only this message; nil in an mbox.
    package var file: String?
    /// The size of the message in bytes.
    package var size: Int64
    /// `true` if only the beginning was read.
    package var isTooLarge: Bool

    package init(
        identifier: MessageIdentifier, message: Message, folder: MailFolder, file: String?, size: Int64,
        isTooLarge: Bool
    ) {
        self.identifier = identifier
        self.message = message
        self.folder = folder
        self.file = file
        self.size = size
        self.isTooLarge = isTooLarge
    }

    /// The reasons why the item lacks parts of the message; empty if it is complete.
    package var omissions: [LeftOutReason] {
        message.problems.map { .problem($0) } + (isTooLarge ? [.tooLarge] : [])
    }
}

/// A message without an item, and the reason.
package struct LeftOutMessage: Sendable, Equatable {
    /// The identifier of the missing item, or the path of the file.
    package var name: String
    package var reason: LeftOutReason
}

extension MailFolder {
    /// The result of reading a message.
    package enum Reading: Sendable {
        case message(FoundMessage)
        case leftOut(LeftOutMessage)
    }

    /// Reads a file in a Maildir.
    package func read(_ file: MaildirFile) -> Reading {
        let path = self.path + "/" + file.part.rawValue + "/" + file.name
        do throws(LeftOutReason) {
            let opened = try OpenFile(path)
            let bytes = try opened.readMessage()
            var message = bytes.withUnsafeBytes { Message($0) }
            message.flags.formUnion(file.flags)
            return reading(
                message, unique: file.unique, file: path, size: opened.size,
                isTooLarge: opened.size > Int64(Message.Limits.size))
        } catch {
            return .leftOut(LeftOutMessage(name: path, reason: error))
        }
    }

    /// Reads a message in an mbox.
    package func read(_ entry: MboxReader.Entry, with reader: MboxReader) throws(LeftOutReason) -> Reading {
        let bytes = try reader.content(of: entry)
        let message = bytes.withUnsafeBytes { Message($0) }
        return reading(
            message, unique: nil, file: nil, size: entry.end - entry.content, isTooLarge: entry.isTooLarge)
    }

    private func reading(
        _ message: Message, unique: String?, file: String?, size: Int64, isTooLarge: Bool
    ) -> Reading {
        let identifier = MessageIdentifier(folder: path, message: message.identifier, unique: unique)
        guard identifier.isAcceptable else {
            return .leftOut(LeftOutMessage(name: file ?? path, reason: .identifierTooLong))
        }
        if message.problems.contains(.noMessage) {
            return .leftOut(LeftOutMessage(name: file ?? identifier.text, reason: .problem(.noMessage)))
        }
        if message.flags.contains(.deleted) {
            return .leftOut(LeftOutMessage(name: identifier.text, reason: .markedAsDeleted))
        }
        return .message(
            FoundMessage(
                identifier: identifier, message: message, folder: self, file: file, size: size, isTooLarge: isTooLarge))
    }
}

/// The bytes of the message that an identifier names.
package struct LocatedMessage: Sendable {
    package var bytes: [UInt8]
    package var folder: MailFolder
    /// The file that contains only this message; nil in an mbox.
    package var file: String?
    package var flags: MailFlags
    /// The size of the message in bytes. ``bytes`` may be only the beginning.
    package var size: Int64

    /// Finds a message.
    ///
    /// - Returns: nil if it does not exist, or if the settings exclude it.
    package init?(_ identifier: MessageIdentifier, _ settings: MailSettings, visiting: () -> Void = {}) throws {
        guard let folder = MailFolders.folder(at: identifier.folder, settings) else { return nil }
        var found: LocatedMessage?
        try Self.find([identifier], in: folder, visiting: visiting) { found = $1 }
        guard let found else { return nil }
        self = found
    }

    /// Finds messages in a folder. Reads an mbox once, and lists a Maildir at most once.
    ///
    /// - Parameter body: Called for each message that exists.
    package static func find(
        _ identifiers: [MessageIdentifier], in folder: MailFolder, visiting: () -> Void,
        _ body: (MessageIdentifier, LocatedMessage) throws -> Void
    ) throws {
        switch folder.format {
        case .maildir: try findFiles(identifiers, in: folder, visiting, body)
        case .mbox: try findEntries(identifiers, in: folder, visiting, body)
        }
    }

    private static func findFiles(
        _ identifiers: [MessageIdentifier], in folder: MailFolder, _ visiting: () -> Void,
        _ body: (MessageIdentifier, LocatedMessage) throws -> Void
    ) throws {
        var listing: [String: MaildirFile]?
        for identifier in identifiers {
            guard let unique = identifier.unique else { continue }
            visiting()
            var file = usualFile(unique, in: folder)
            if file == nil {
                if listing == nil {
                    let wanted = Set(identifiers.compactMap(\.unique))
                    let files = (try? DirectoryNames.messages(of: folder.path, visiting: visiting)) ?? []
                    listing = Dictionary(files.filter { wanted.contains($0.unique) }.map { ($0.unique, $0) }) { $1 }
                }
                file = listing?[unique]
            }
            guard let file, let found = try located(file, in: folder) else { continue }
            try body(identifier, found)
        }
    }

    /// Looks for a Maildir file under its usual names, because listing a folder with 200,000 files
    /// is slow.
    private static func usualFile(_ unique: String, in folder: MailFolder) -> MaildirFile? {
        for name in [unique + ":2,S", unique + ":2,", unique + ":2,RS", unique] {
            for part in [MaildirFile.Part.cur, .new] {
                let file = MaildirFile(part: part, name: name)
                if MailFolders.isMessage(folder.path, file) { return file }
            }
        }
        return nil
    }

    private static func located(
        _ file: MaildirFile, in folder: MailFolder
    ) throws(LeftOutReason) -> LocatedMessage? {
        let path = folder.path + "/" + file.part.rawValue + "/" + file.name
        do throws(LeftOutReason) {
            let opened = try OpenFile(path)
            return LocatedMessage(
                bytes: try opened.readMessage(), folder: folder, file: path, flags: file.flags, size: opened.size)
        } catch .notThere {
            return nil
        }
    }

    private static func findEntries(
        _ identifiers: [MessageIdentifier], in folder: MailFolder, _ visiting: () -> Void,
        _ body: (MessageIdentifier, LocatedMessage) throws -> Void
    ) throws {
        let wanted = Set(identifiers.filter { $0.unique == nil }.map(\.message))
        if wanted.isEmpty { return }
        let hasDigests = wanted.contains(where: Message.mayBeDigest)
        let file = try OpenFile(folder.path)
        var reader = MboxReader(file)
        // If several messages have the same Message-ID, the last one is used, as in a reindex.
        var entries: [String: MboxReader.Entry] = [:]
        while let entry = try reader.next() {
            visiting()
            var (identifier, flags) = try file.identify(entry)
            if flags.contains(.deleted) { continue }
            if identifier == nil, hasDigests || entry.readSize > OpenFile.identifiedSize {
                identifier = try reader.content(of: entry).withUnsafeBytes { Message($0).identifier }
            }
            if let identifier, wanted.contains(identifier) { entries[identifier] = entry }
        }
        for identifier in identifiers {
            guard identifier.unique == nil, let entry = entries[identifier.message] else { continue }
            visiting()
            let bytes = try reader.content(of: entry)
            try body(
                identifier,
                LocatedMessage(bytes: bytes, folder: folder, file: nil, flags: [], size: entry.end - entry.content))
        }
    }

    private init(bytes: [UInt8], folder: MailFolder, file: String?, flags: MailFlags, size: Int64) {
        self.bytes = bytes
        self.folder = folder
        self.file = file
        self.flags = flags
        self.size = size
    }
}

extension OpenFile {
    /// The number of bytes of a message that are searched for its Message-ID.
    fileprivate static let identifiedSize = 16 << 10

    /// Reads the Message-ID and `X-Mozilla-Status` of a message in an mbox. The Message-ID is nil
    /// if the beginning of the message contains none.
    fileprivate func identify(
        _ entry: MboxReader.Entry
    ) throws(LeftOutReason) -> (identifier: String?, flags: MailFlags) {
        let head = try read(at: entry.content, count: min(entry.readSize, Self.identifiedSize))
        return head.withUnsafeBytes { Message.identify($0, isWhole: entry.readSize <= Self.identifiedSize) }
    }
}

/// The stored state of an mbox, so that only appended messages are read again.
package struct MboxState: Sendable, Equatable {
    package var size: Int64
    package var modified: Int64
    /// The offset of the last message, in bytes. The next update reads this message again, because
    /// it may have been incomplete.
    package var last: Int64
    /// A digest of the bytes before the last message.
    var digest: UInt64

    private static let digestedSize = 4096

    /// Creates the state of a file whose last message is at an offset.
    package init(_ file: OpenFile, last: Int64) throws(LeftOutReason) {
        size = file.size
        modified = file.modified
        self.last = last
        digest = try Self.digest(of: file, before: last)
    }

    /// Reads a stored state; nil if its format is unknown.
    package init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 5, parts[0] == "1", let size = Int64(parts[1]), let modified = Int64(parts[2]),
            let last = Int64(parts[3]), let digest = UInt64(parts[4], radix: 16)
        else { return nil }
        (self.size, self.modified, self.last, self.digest) = (size, modified, last, digest)
    }

    package var text: String { "1 \(size) \(modified) \(last) \(digest.hexadecimal)" }

    /// Returns `true` if the file has not changed.
    package func isSame(_ file: OpenFile) -> Bool { file.size == size && file.modified == modified }

    /// Returns `true` if the file has grown and seems otherwise unchanged.
    package func isContinued(_ file: OpenFile) -> Bool {
        guard file.size > size, last < size, let now = try? Self.digest(of: file, before: last), now == digest else {
            return false
        }
        return MboxReader.isStart(file, at: last)
    }

    private static func digest(of file: OpenFile, before offset: Int64) throws(LeftOutReason) -> UInt64 {
        let count = min(offset, Int64(digestedSize))
        return FNV1a.hash(try file.read(at: offset - count, count: Int(count)))
    }
}

/// A message in a folder that the index may lack.
package struct FreshMessage: Sendable, Equatable {
    package enum Place: Sendable, Equatable {
        case file(MaildirFile)
        case entry(MboxReader.Entry)
    }

    /// The Message-ID; nil if it is unknown until the message is read.
    package var message: String?
    package var place: Place

    package init(message: String?, place: Place) {
        self.message = message
        self.place = place
    }
}

/// The difference between an mbox and its items in the index.
package struct MboxComparison: Sendable {
    /// The messages that the index lacks, in file order.
    package private(set) var fresh: [FreshMessage] = []
    /// The Message-IDs of items whose messages are no longer in the file.
    package private(set) var gone: Set<String>
    /// The offset of the last message. If there are no messages, the offset where the comparison
    /// started.
    package private(set) var last: Int64

    /// Compares the messages that start at or after an offset.
    ///
    /// - Parameter known: The Message-IDs in the index; empty for appended messages.
    package init(
        _ file: OpenFile, from offset: Int64, known: Set<String>, visiting: @escaping () -> Void
    ) throws(LeftOutReason) {
        gone = known
        last = offset
        var reader = MboxReader(file, from: offset, visiting: visiting)
        while let entry = try reader.next(), fresh.count < MboxReader.maximumMessages {
            visiting()
            last = entry.start
            var (identifier, flags) = try file.identify(entry)
            if flags.contains(.deleted) { continue }
            if identifier == nil {
                identifier = try reader.content(of: entry).withUnsafeBytes { Message($0).identifier }
            }
            guard let identifier else { continue }
            gone.remove(identifier)
            if !known.contains(identifier) { fresh.append(FreshMessage(message: identifier, place: .entry(entry))) }
        }
    }
}
