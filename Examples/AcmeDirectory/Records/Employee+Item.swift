// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import ExampleSupport

extension Employee {
    /// The domain of all employees. Departments are domains in it.
    public static let domain = "staff"

    /// The domain of a department, `staff.research`. Deleting it deletes the items of the
    /// department.
    public static func domain(of department: String) -> String { "\(domain).\(department.slug)" }

    /// The types in which an employee can be dragged into another app.
    public static let dataTypes = [UTType.vCard.identifier, UTType.utf8PlainText.identifier]

    /// The item in the index.
    public var searchableItem: CSSearchableItem {
        let attributes = CSSearchableItemAttributeSet(contentType: .contact)
        attributes.title = name
        attributes.displayName = name
        attributes.contentDescription = position
        attributes.keywords = [department, title].filter { !$0.isEmpty }
        attributes.organizations = ["Acme"]
        if let phone {
            attributes.phoneNumbers = [phone]
            attributes.supportsPhoneCall = 1
        }
        if let mail { attributes.emailAddresses = [mail] }
        if isPublic { attributes.url = webpage }
        attributes.thumbnailData = Identicon(of: id).png
        attributes.providerDataTypeIdentifiers = Self.dataTypes
        let item = CSSearchableItem(
            uniqueIdentifier: id, domainIdentifier: Self.domain(of: department), attributeSet: attributes)
        // Without a date an item leaves the index after a month.
        item.expirationDate = contractEnd ?? .distantFuture
        return item
    }

    /// The content for another app.
    ///
    /// - Returns: The data; `nil` for a type that an employee does not promise.
    public func data(ofType type: String) -> Data? {
        switch type {
        case UTType.vCard.identifier: Data(card.vCard.utf8)
        case UTType.utf8PlainText.identifier: Data(card.text.utf8)
        default: nil
        }
    }
}
