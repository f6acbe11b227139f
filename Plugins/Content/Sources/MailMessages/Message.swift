// SPDX-License-Identifier: Apache-2.0
import CMailReader
package import Foundation

/// A sender or recipient in a message's header.
package struct MailPerson: Sendable, Equatable {
    package var name: String?
    package var address: String?
}

/// A file that is attached to a message.
package struct MailAttachment: Sendable, Equatable {
    /// The file name; empty if there is none.
    package var name: String
    /// The MIME type in lower case, such as `application/pdf`.
    package var type: String
    /// The content identifier without angle brackets, which the HTML uses to refer to the
    /// attachment.
    package var contentID: String?
    /// The encoded size in bytes.
    package var size: UInt64
    /// The number of the part in the message.
    package var part: UInt32
    /// `true` for a part that the HTML displays, such as a picture.
    package var isInline: Bool
}

/// The flags of a message.
package struct MailFlags: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let read = MailFlags(rawValue: 1)
    package static let flagged = MailFlags(rawValue: 2)
    package static let replied = MailFlags(rawValue: 4)
    package static let draft = MailFlags(rawValue: 8)
    /// The message is marked for deletion.
    package static let deleted = MailFlags(rawValue: 16)

    /// Reads the flags in a Maildir file name, such as `1700000000.M1P2.host:2,FS`.
    init(fileName: String) {
        var flags: MailFlags = []
        let bytes = fileName.utf8
        if let start = bytes.lastIndex(of: UInt8(ascii: ":")), bytes[start...].starts(with: ":2,".utf8) {
            for letter in bytes[start...].dropFirst(3) {
                switch letter {
                case UInt8(ascii: "S"): flags.insert(.read)
                case UInt8(ascii: "F"): flags.insert(.flagged)
                case UInt8(ascii: "R"): flags.insert(.replied)
                case UInt8(ascii: "D"): flags.insert(.draft)
                case UInt8(ascii: "T"): flags.insert(.deleted)
                default: break
                }
            }
        }
        self = flags
    }

    /// Reads `X-Mozilla-Status`.
    init(mozillaStatus status: UInt32) {
        var flags: MailFlags = []
        if status & 0x0001 != 0 { flags.insert(.read) }
        if status & 0x0002 != 0 { flags.insert(.replied) }
        if status & 0x0004 != 0 { flags.insert(.flagged) }
        if status & 0x0008 != 0 { flags.insert(.deleted) }
        self = flags
    }

    /// Reads `Status` and `X-Status` from an mbox.
    init(status: String) {
        var flags: MailFlags = []
        for letter in status.utf8 {
            switch letter {
            case UInt8(ascii: "R"): flags.insert(.read)
            case UInt8(ascii: "F"): flags.insert(.flagged)
            case UInt8(ascii: "A"): flags.insert(.replied)
            case UInt8(ascii: "D"): flags.insert(.deleted)
            default: break
            }
        }
        self = flags
    }
}

/// The content of a message, within the limits of the index.
package struct Message: Sendable {
    /// The limits for one message.
    package enum Limits {
        /// The number of bytes of a message that are read.
        package static let size = 64 << 20
        /// The maximum size of the text, in bytes.
        static let text = 512 << 10
        /// The maximum text size of one attachment, in bytes.
        static let attachmentText = 256 << 10
        /// The maximum number of attachments.
        static let attachments = 200
        /// The maximum number of people in one header.
        static let people = 200
    }

    /// The reason why a part of a message was left out.
    package enum Problem: UInt32, CaseIterable, Sendable, CustomStringConvertible {
        case tooManyParts = 1
        case tooMuchHeader = 2
        case tooDeep = 4
        case noMessage = 8

        package var description: String {
            switch self {
            case .tooManyParts: "too many parts"
            case .tooMuchHeader: "too large a header"
            case .tooDeep: "parts in too many parts"
            case .noMessage: "not a message"
            }
        }
    }

    /// The Message-ID without angle brackets. If the message has none, a digest of its header.
    package var identifier: String
    /// `true` if the message has a Message-ID.
    package var hasIdentifier: Bool
    /// The Message-ID of the thread's first message. If there are no References and no In-Reply-To,
    /// the message's own.
    package var thread: String
    package var subject: String?
    package var listIdentifier: String?
    package var from: [MailPerson]
    package var to: [MailPerson]
    package var cc: [MailPerson]
    package var bcc: [MailPerson]
    package var date: Date?
    package var flags: MailFlags
    /// `true` if a filter has marked the message as spam.
    package var isSpam: Bool
    package var isEncrypted: Bool
    package var tags: [String]
    package var text: String
    /// The number of bytes of text that are not in ``text``.
    package var missingText: UInt64
    package var hasHTML: Bool
    package var attachments: [MailAttachment]
    package var attachmentsLeftOut: Int
    package var problems: [Problem]

    /// Reads a message; any bytes are accepted.
    package init(_ bytes: UnsafeRawBufferPointer) {
        var limits = mail_limits(
            text: Limits.text, attachment_text: Limits.attachmentText, attachments: Limits.attachments,
            people: Limits.people)
        let pointer = mail_message_read(bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1), bytes.count, &limits)
        defer { mail_message_free(pointer) }
        let message = pointer?.pointee ?? mail_message()
        func people(_ list: mail_people) -> [MailPerson] {
            UnsafeBufferPointer(start: list.items, count: list.count)
                .map { MailPerson(name: Self.string($0.name), address: Self.string($0.address)) }
        }
        subject = Self.string(message.subject).flatMap { $0.isEmpty ? nil : $0 }
        (from, to) = (people(message.from), people(message.to))
        (cc, bcc) = (people(message.cc), people(message.bcc))
        date = message.has_date != 0 ? Date(timeIntervalSince1970: TimeInterval(message.date)) : nil
        listIdentifier = Self.string(message.list_id)
        flags = MailFlags(mozillaStatus: message.status)
            .union(MailFlags(status: Self.string(message.flags) ?? ""))
        isSpam = message.is_spam != 0
        isEncrypted = message.is_encrypted != 0
        tags = (Self.string(message.tags) ?? "").split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
        text =
            message.text.map { start in
                String(
                    decoding: UnsafeRawBufferPointer(start: start, count: message.text_length), as: UTF8.self)
            } ?? ""
        missingText = message.text_left_out
        hasHTML = message.has_html != 0
        attachments = UnsafeBufferPointer(start: message.attachments, count: message.attachment_count)
            .map {
                MailAttachment(
                    name: Self.string($0.name) ?? "", type: Self.string($0.type) ?? "application/octet-stream",
                    contentID: Self.string($0.content_id), size: $0.size, part: $0.part, isInline: $0.is_inline != 0)
            }
        attachmentsLeftOut = message.attachments_left_out
        problems = Problem.allCases.filter { message.problems & $0.rawValue != 0 }
        let known = Self.string(message.message_id)
        hasIdentifier = known != nil
        identifier = known ?? ""
        thread = ""
        if known == nil { identifier = Self.digest(of: self) }
        thread = Self.string(message.thread_id) ?? identifier
    }

    /// Returns a Message-ID for a message without one. The same message always gets the same
    /// Message-ID.
    private static func digest(of message: Message) -> String {
        let people = (message.from + message.to).map { ($0.name ?? "") + "<" + ($0.address ?? "") }
        let source =
            "\(message.date?.timeIntervalSince1970 ?? 0)\0\(message.subject ?? "")\0\(people.joined(separator: "\0"))\0"
            + "\(message.text.utf8.count)\0\(message.text.prefix(4096))"
        return digestMark + FNV1a.hash(source.utf8).hexadecimal
    }

    /// `true` if an identifier may be a digest instead of a real Message-ID.
    static func mayBeDigest(_ identifier: String) -> Bool { identifier.utf8.starts(with: digestMark.utf8) }

    private static let digestMark = "no-message-id-"

    /// Reads only the Message-ID and `X-Mozilla-Status`; the Message-ID is nil if there is none.
    ///
    /// - Parameter isWhole: `false` if the bytes are only the beginning of a message. The
    ///   Message-ID is then also nil if the field may continue after them.
    package static func identify(
        _ bytes: UnsafeRawBufferPointer, isWhole: Bool
    ) -> (identifier: String?, flags: MailFlags) {
        guard let start = bytes.baseAddress else { return (nil, []) }
        var status: UInt32 = 0
        let identifier = mail_message_identify(start, bytes.count, isWhole ? 1 : 0, &status)
        defer { mail_free(identifier) }
        return (string(UnsafePointer(identifier)), MailFlags(mozillaStatus: status))
    }

    /// Returns the decoded bytes of an attachment; nil if there is no such part.
    package static func attachment(part: UInt32, of bytes: UnsafeRawBufferPointer) -> Data? {
        attachments(parts: [part], of: bytes, limit: Limits.size)[part]
    }

    /// Returns the decoded bytes of attachments, keyed by part number. Parses the message once.
    ///
    /// - Parameter limit: The maximum total size, in bytes. An attachment that would exceed it is
    ///   left out.
    package static func attachments(
        parts: [UInt32], of bytes: UnsafeRawBufferPointer, limit: Int
    ) -> [UInt32: Data] {
        guard let start = bytes.baseAddress else { return [:] }
        var contents = parts.map { mail_content(part: $0, bytes: nil, length: 0) }
        mail_attachments_read(start, bytes.count, &contents, contents.count, limit)
        var found: [UInt32: Data] = [:]
        for content in contents {
            guard let memory = content.bytes else { continue }
            found[content.part] = Data(bytes: memory, count: content.length)
            mail_free(memory)
        }
        return found
    }

    /// Returns a message's HTML, at most `limit` bytes; nil if it has none.
    package static func html(of bytes: UnsafeRawBufferPointer, limit: Int) -> String? {
        var length = 0
        guard let start = bytes.baseAddress, let html = mail_html_read(start, bytes.count, limit, &length) else {
            return nil
        }
        defer { mail_free(html) }
        return String(decoding: UnsafeRawBufferPointer(start: html, count: length), as: UTF8.self)
    }

    private static func string(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
}

extension String {
    /// `true` if the string contains the bytes of another string.
    package func containsBytes(of other: String) -> Bool {
        var text = self
        return text.withUTF8 { mail_find($0.baseAddress ?? UnsafePointer(bitPattern: 1), $0.count, other) >= 0 }
    }
}

/// The 64-bit FNV-1a hash, for short, stable names.
package enum FNV1a {
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}

extension UInt64 {
    /// The hash as 16 hexadecimal digits.
    package var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
