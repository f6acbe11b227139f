// SPDX-License-Identifier: Apache-2.0

import Foundation

// Mail, messages and people.
extension CSSearchableItemAttributeSet {
    /// The identifier of the account that the message belongs to.
    public var accountIdentifier: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The addresses and numbers of the account.
    public var accountHandles: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The HTML body, encoded in UTF-8.
    public var htmlContentData: Data? {
        get { value() }
        set { store(newValue) }
    }

    /// The plain-text body. The full-text search reads it first.
    public var textContent: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The authors of the message.
    public var authors: [CSPerson]? {
        get { value() }
        set { store(newValue) }
    }

    /// The primary recipients.
    public var primaryRecipients: [CSPerson]? {
        get { value() }
        set { store(newValue) }
    }

    /// The recipients of a copy (Cc).
    public var additionalRecipients: [CSPerson]? {
        get { value() }
        set { store(newValue) }
    }

    /// The recipients of a blind copy (Bcc).
    public var hiddenAdditionalRecipients: [CSPerson]? {
        get { value() }
        set { store(newValue) }
    }

    /// The mail headers, from name to values. Values other than property-list values are ignored.
    public var emailHeaders: [String: [Any]]? {
        get { value() }
        set { store(newValue) }
    }

    /// The mailboxes of the message, such as `CSMailboxInbox` or names defined by the app.
    public var mailboxIdentifiers: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The names of the authors.
    public var authorNames: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The names of the recipients.
    public var recipientNames: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The mail addresses of the authors.
    public var authorEmailAddresses: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The mail addresses of the recipients.
    public var recipientEmailAddresses: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The addresses of the authors.
    public var authorAddresses: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The addresses of the recipients.
    public var recipientAddresses: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The phone numbers of the item.
    public var phoneNumbers: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The mail addresses of the item.
    public var emailAddresses: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The instant message addresses of the item.
    public var instantMessageAddresses: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the message is likely junk (1) or not (0, the default).
    public var likelyJunk: NSNumber {
        get { value() ?? NSNumber(value: 0) }
        set { store(newValue) }
    }

    /// A number that indicates whether the system rated the message as important (1); `nil` until
    /// it is rated.
    ///
    /// - Note: Unused on Linux: nothing rates messages, so it stays `nil`.
    public var isPriority: NSNumber? { value() }
}
