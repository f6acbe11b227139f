// SPDX-License-Identifier: Apache-2.0

import Foundation

// Mail, messages and people.
extension CSSearchableItemAttributeSet {
    /// The account that the message belongs to.
    public var accountIdentifier: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The addresses and numbers of the account itself.
    public var accountHandles: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The body as HTML in UTF-8.
    public var htmlContentData: Data? {
        get { value() }
        set { store(newValue) }
    }

    /// The body as plain text; what the full-text search reads first.
    public var textContent: String? {
        get { value() }
        set { store(newValue) }
    }

    /// From whom.
    public var authors: [CSPerson]? {
        get { value() }
        set { store(newValue) }
    }

    /// To whom.
    public var primaryRecipients: [CSPerson]? {
        get { value() }
        set { store(newValue) }
    }

    /// Who gets a copy.
    public var additionalRecipients: [CSPerson]? {
        get { value() }
        set { store(newValue) }
    }

    /// Who gets a copy unseen by the others.
    public var hiddenAdditionalRecipients: [CSPerson]? {
        get { value() }
        set { store(newValue) }
    }

    /// The headers of the mail: name to values. Values other than property-list values are left out.
    public var emailHeaders: [String: [Any]]? {
        get { value() }
        set { store(newValue) }
    }

    /// The mailboxes of the message: `CSMailboxInbox` and its siblings, or names of the app.
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

    /// The addresses for instant messages.
    public var instantMessageAddresses: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the message is likely junk; 0 until set.
    public var likelyJunk: NSNumber {
        get { value() ?? NSNumber(value: 0) }
        set { store(newValue) }
    }

    /// 1 if the system found the message important; `nil` until it has looked.
    ///
    /// - Note: Unused on Linux: nothing judges messages, so it stays `nil`.
    public var isPriority: NSNumber? { value() }
}
