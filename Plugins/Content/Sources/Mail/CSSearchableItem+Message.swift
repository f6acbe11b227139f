// SPDX-License-Identifier: Apache-2.0
import ContentSupport
import CoreSpotlight
import MailMessages

extension CSSearchableItem {
    /// Creates the item for a message. The item never expires; it is deleted when the message is
    /// deleted.
    convenience init(_ found: FoundMessage) {
        let message = found.message
        let attributes = CSSearchableItemAttributeSet()
        let identifier = found.identifier.text
        attributes.identifier = identifier
        attributes.contentType = UTType.emailMessage.identifier
        let title = message.title
        attributes.title = title
        attributes.displayName = title
        if let subject = message.subject { attributes.subject = subject }
        attributes.textContent = message.text
        let summary = message.text.firstLine(maximumCharacters: 200)
        if !summary.isEmpty { attributes.contentDescription = summary }
        if let date = message.date { attributes.contentCreationDate = date }
        attributes.setPeople(message)
        attributes.setFolder(found.folder)
        attributes.setFlags(message)
        let names = message.attachments.filter { !$0.isInline }.map(\.name).filter { !$0.isEmpty }
        // The key that “has:attachment” queries, without an app's name.
        attributes.setCustom("attachmentNames", names as NSArray, isFound: true, if: !names.isEmpty)
        if !message.tags.isEmpty { attributes.keywords = message.tags }
        // The attribute's unit is megabytes.
        attributes.fileSize = NSNumber(value: Double(found.size) / 1_000_000)
        attributes.setCustom(
            "com_searchlight_missingTextBytes", NSNumber(value: message.missingText), isFound: false,
            if: message.missingText > 0)
        if message.hasIdentifier { attributes.url = message.url }
        if let file = found.file { attributes.contentURL = URL(filePath: file, directoryHint: .notDirectory) }
        attributes.providerDataTypeIdentifiers = message.dataTypes
        attributes.providerFileTypeIdentifiers = message.fileTypes
        if found.file != nil { attributes.providerInPlaceFileTypeIdentifiers = [UTType.savedEmailMessage.identifier] }
        self.init(uniqueIdentifier: identifier, domainIdentifier: found.domain, attributeSet: attributes)
        expirationDate = .distantFuture
    }
}

extension FoundMessage {
    /// The domain of the thread: the account, and a digest of the thread's first Message-ID. All
    /// messages in a thread share the domain, regardless of their folders.
    var domain: String {
        let name = folder.account
        let account = name.utf8.contains(UInt8(ascii: ".")) ? name.replacing(".", with: "_") : name
        return (account.isEmpty ? "mail" : account) + "." + FNV1a.hash(message.thread.utf8).hexadecimal
    }
}

extension Message {
    /// The displayed title: the subject, or else the beginning of the text.
    var title: String {
        if let subject = subject?.firstLine(maximumCharacters: 400), !subject.isEmpty { return subject }
        let line = text.firstLine(maximumCharacters: 80)
        return line.isEmpty ? "(no subject)" : line
    }

    /// The URL of the message (RFC 2392), which mail programs can open.
    var url: URL? {
        let isPlain = identifier.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "@"):
                true
            default: false
            }
        }
        let encoded = isPlain ? identifier : identifier.addingPercentEncoding(withAllowedCharacters: Self.unreserved)
        return encoded.flatMap { URL(string: "mid:" + $0) }
    }

    /// The characters of a Message-ID that a URL contains unchanged. A constant, because the
    /// computation of such a set takes longer than the reading of a message.
    private static let unreserved: CharacterSet = {
        var characters = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7F}"))
        characters.insert(charactersIn: "-._~@$!*'()+,;=")
        return characters
    }()

    /// The types in which a message is provided as data.
    var dataTypes: [String] {
        var types = [UTType.savedEmailMessage.identifier, UTType.utf8PlainText.identifier]
        if hasHTML { types.insert(UTType.html.identifier, at: 1) }
        return types
    }

    /// The types in which a message is provided as a file: its own type, and the types of its
    /// attachments.
    var fileTypes: [String] {
        var types = [UTType.savedEmailMessage.identifier]
        for attachment in attachments {
            guard let type = attachment.typeIdentifier, !types.contains(type), types.count < 32 else { continue }
            types.append(type)
        }
        return types
    }
}

extension UTType {
    /// A message in a file (`.eml`, `message/rfc822`). It conforms to `public.email-message` and to
    /// `public.data`. The type `public.email-message` itself does not conform to `public.data`, so
    /// a receiver of files would not accept it.
    static let savedEmailMessage = UTType(importedAs: "com.apple.mail.email", conformingTo: .emailMessage)
}

extension MailAttachment {
    /// The uniform type of the attachment, determined by its MIME type or else by its file
    /// extension. Nil if the type is unknown or the attachment is a message.
    var typeIdentifier: String? {
        if type == "message/rfc822" { return nil }
        if type != "application/octet-stream", let known = UTType(mimeType: type), !known.isDynamic {
            return known.identifier
        }
        let ending = name.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(name[name.index(after: $0)...]) } ?? ""
        guard !ending.isEmpty, let known = UTType(filenameExtension: ending), !known.isDynamic else { return nil }
        return known.identifier
    }
}

extension CSSearchableItemAttributeSet {
    fileprivate func setPeople(_ message: Message) {
        func people(_ list: [MailPerson]) -> [CSPerson]? {
            if list.isEmpty { return nil }
            return list.map { person in
                CSPerson(
                    displayName: person.name, handles: person.address.map { [$0] } ?? [],
                    handleIdentifier: "emailAddresses")
            }
        }
        func names(_ list: [MailPerson]) -> [String]? {
            let names = list.compactMap(\.name)
            return names.isEmpty ? nil : names
        }
        func addresses(_ list: [MailPerson]) -> [String]? {
            let addresses = list.compactMap(\.address)
            return addresses.isEmpty ? nil : addresses
        }
        let recipients = message.to + message.cc + message.bcc
        if let authors = people(message.from) { self.authors = authors }
        if let names = names(message.from) { authorNames = names }
        if let addresses = addresses(message.from) { authorEmailAddresses = addresses }
        if let people = people(message.to) { primaryRecipients = people }
        if let people = people(message.cc) { additionalRecipients = people }
        if let people = people(message.bcc) { hiddenAdditionalRecipients = people }
        if let names = names(recipients) { recipientNames = names }
        if let addresses = addresses(recipients) { recipientEmailAddresses = addresses }
    }

    fileprivate func setFolder(_ folder: MailFolder) {
        containerTitle = folder.name
        containerIdentifier = folder.path
        accountIdentifier = folder.account
        let role: String? =
            switch folder.role {
            case .inbox: CSMailboxInbox
            case .sent: CSMailboxSent
            case .drafts: CSMailboxDrafts
            case .archive: CSMailboxArchive
            case .junk: CSMailboxJunk
            case .trash: CSMailboxTrash
            case .other: nil
            }
        mailboxIdentifiers = [role ?? folder.name]
    }

    private static let flagKeys: [(key: CSCustomAttributeKey, flag: MailFlags)] = [
        ("com_searchlight_mail_read", MailFlags.read), ("com_searchlight_mail_flagged", .flagged),
        ("com_searchlight_mail_replied", .replied),
    ].compactMap { name, flag in key(name, isFound: false).map { ($0, flag) } }

    fileprivate func setFlags(_ message: Message) {
        if message.isSpam { likelyJunk = true }
        for (key, flag) in Self.flagKeys {
            setValue(NSNumber(value: message.flags.contains(flag)), forCustomKey: key)
        }
        setCustom(
            "com_searchlight_mail_list", (message.listIdentifier ?? "") as NSString, isFound: true,
            if: message.listIdentifier != nil)
    }

    /// Sets a custom attribute.
    ///
    /// - Parameter isFound: `true` if searches find the value without naming the attribute.
    fileprivate func setCustom(
        _ name: String, _ value: any NSSecureCoding, isFound: Bool, if condition: Bool = true
    ) {
        guard condition, let key = Self.key(name, isFound: isFound, isList: value is NSArray) else { return }
        setValue(value, forCustomKey: key)
    }

    private static func key(_ name: String, isFound: Bool, isList: Bool = false) -> CSCustomAttributeKey? {
        CSCustomAttributeKey(
            keyName: name, searchable: true, searchableByDefault: isFound, unique: false, multiValued: isList)
    }
}
