// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import ExampleSupport

extension Friend {
    /// The types in which a friend can be dragged, best first. A receiver takes the first that it
    /// knows: an address book the card, an editor the text, an image editor the picture.
    public static let dataTypes = [UTType.vCard, .utf8PlainText, .png].map(\.identifier)

    /// The hint for the order among friends that match equally well: 0 to 100, by use.
    public var rankingHint: Int { min(100, 10 * uses) }

    /// The item in the index.
    public var searchableItem: CSSearchableItem {
        let attributes = CSSearchableItemAttributeSet(contentType: .contact)
        attributes.title = name
        attributes.displayName = name
        attributes.contentDescription = group
        attributes.keywords = [group]
        if let phone {
            attributes.phoneNumbers = [phone]
            // Launchers then offer to call the friend.
            attributes.supportsPhoneCall = 1
        }
        if let mail { attributes.emailAddresses = [mail] }
        attributes.thumbnailData = Identicon(of: id).png
        attributes.rankingHint = NSNumber(value: rankingHint)
        if let lastUse { attributes.lastUsedDate = lastUse }
        attributes.userCreated = 1
        attributes.providerDataTypeIdentifiers = Self.dataTypes
        let item = CSSearchableItem(
            uniqueIdentifier: id, domainIdentifier: "friends.\(group.slug)", attributeSet: attributes)
        item.expirationDate = .distantFuture
        return item
    }

    /// The content for another app.
    ///
    /// - Returns: The data; `nil` for a type that a friend does not promise.
    public func data(ofType type: String) -> Data? {
        switch type {
        case UTType.vCard.identifier: Data(card.vCard.utf8)
        case UTType.utf8PlainText.identifier: Data(card.text.utf8)
        case UTType.png.identifier: Identicon(of: id).png
        default: nil
        }
    }
}
