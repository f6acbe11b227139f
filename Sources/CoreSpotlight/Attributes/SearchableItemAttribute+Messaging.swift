// SPDX-License-Identifier: Apache-2.0

extension SearchableItemAttribute {
    /// ``CSSearchableItemAttributeSet/accountHandles``
    public static let accountHandles = SearchableItemAttribute(rawValue: "accountHandles")
    /// ``CSSearchableItemAttributeSet/accountIdentifier``
    public static let accountIdentifier = SearchableItemAttribute(rawValue: "accountIdentifier")
    /// ``CSSearchableItemAttributeSet/authorAddresses``
    public static let authorAddresses = SearchableItemAttribute(rawValue: "authorAddresses")
    /// ``CSSearchableItemAttributeSet/authorEmailAddresses``
    public static let authorEmailAddresses = SearchableItemAttribute(rawValue: "authorEmailAddresses")
    /// ``CSSearchableItemAttributeSet/authorNames``
    public static let authorNames = SearchableItemAttribute(rawValue: "authorNames")
    /// ``CSSearchableItemAttributeSet/emailAddresses``
    public static let emailAddresses = SearchableItemAttribute(rawValue: "emailAddresses")
    /// ``CSSearchableItemAttributeSet/instantMessageAddresses``
    public static let instantMessageAddresses = SearchableItemAttribute(rawValue: "instantMessageAddresses")
    /// ``CSSearchableItemAttributeSet/likelyJunk``
    public static let likelyJunk = SearchableItemAttribute(rawValue: "likelyJunk")
    /// ``CSSearchableItemAttributeSet/mailboxIdentifiers``
    public static let mailboxIdentifiers = SearchableItemAttribute(rawValue: "mailboxIdentifiers")
    /// ``CSSearchableItemAttributeSet/phoneNumbers``
    public static let phoneNumbers = SearchableItemAttribute(rawValue: "phoneNumbers")
    /// ``CSSearchableItemAttributeSet/recipientAddresses``
    public static let recipientAddresses = SearchableItemAttribute(rawValue: "recipientAddresses")
    /// ``CSSearchableItemAttributeSet/recipientEmailAddresses``
    public static let recipientEmailAddresses = SearchableItemAttribute(rawValue: "recipientEmailAddresses")
    /// ``CSSearchableItemAttributeSet/recipientNames``
    public static let recipientNames = SearchableItemAttribute(rawValue: "recipientNames")
    /// ``CSSearchableItemAttributeSet/textContent``
    public static let textContent = SearchableItemAttribute(rawValue: "textContent")
}
