// SPDX-License-Identifier: Apache-2.0
import ExampleSupport
import Foundation

/// A friend in the app's address book.
public struct Friend: Codable, Hashable, Sendable, Identifiable {
    /// The identifier, also of the item in the index.
    public var id: String
    /// The full name.
    public var name: String
    /// The group: family, choir, work.
    public var group: String
    /// The telephone number.
    public var phone: String?
    /// The address for electronic mail.
    public var mail: String?
    /// The number of calls and letters through the app.
    public var uses = 0
    /// The last of them.
    public var lastUse: Date?

    /// Creates a friend, with an identifier from the name.
    public init(name: String, group: String, phone: String? = nil, mail: String? = nil) {
        id = name.slug
        (self.name, self.group, self.phone, self.mail) = (name, group, phone, mail)
    }

    /// The card for other apps.
    public var card: VisitingCard {
        VisitingCard(name: name, title: "", organization: "", phone: phone, mail: mail)
    }
}

/// The file in which the app keeps the friends, by identifier.
public enum AddressBook {
    /// The identifier of the app.
    public static let bundle = "com.example.Friends"
    /// The file. The extension only reads it.
    public static let file = JSONFile<[String: Friend]>("friends.json", of: bundle, empty: [:])
}
