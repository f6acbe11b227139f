// SPDX-License-Identifier: Apache-2.0
import ContactCards
import CoreSpotlight
import FileDonations
import FileReading

extension CardFile {
    /// The maximum size of a picture that is stored as a thumbnail, in bytes. A larger picture
    /// appears only in the preview.
    static let maximumThumbnail = 512 << 10

    /// Returns the item for a card. The item never expires; it is deleted when the card is deleted.
    ///
    /// - Parameter count: The number of cards in the file.
    func item(_ card: Card, key: String, count: Int) -> FileItem {
        let attributes = CSSearchableItemAttributeSet()
        let identifier = RecordIdentifier(path: path, key: key).text
        attributes.identifier = identifier
        attributes.contentType = UTType.vCard.identifier
        attributes.title = card.name.isEmpty ? "(no name)" : card.name.oneLine
        attributes.displayName = attributes.title
        let (text, missing) = card.indexedText
        attributes.textContent = text
        attributes.setMissingText(Int64(missing))
        attributes.setNames(card)
        attributes.setAddresses(card)
        attributes.setPlace(card)
        let book = bookName(cardCount: count)
        if !book.isEmpty { attributes.containerTitle = book }
        attributes.containerIdentifier = path
        if let revised = card.revised { attributes.contentModificationDate = revised }
        // A database is not opened as a file.
        if kind == .vCard {
            attributes.contentURL = URL(filePath: path, directoryHint: .notDirectory)
        } else if let url = card.mailURL {
            attributes.url = url
        }
        if let picture = card.picture, picture.bytes.count <= Self.maximumThumbnail {
            attributes.thumbnailData = Data(picture.bytes)
        }
        attributes.providerDataTypeIdentifiers = card.dataTypes
        if kind == .vCard, count == 1 { attributes.providerInPlaceFileTypeIdentifiers = [UTType.vCard.identifier] }
        let item = CSSearchableItem(
            uniqueIdentifier: identifier, domainIdentifier: RecordIdentifier.domain(of: path), attributeSet: attributes)
        item.expirationDate = .distantFuture
        var made = FileItem(item, size: text.utf8.count + (attributes.thumbnailData?.count ?? 0))
        if !card.problems.isEmpty {
            let problems = card.problems.map(\.rawValue).joined(separator: ", ")
            made.remarks = ["\(identifier.onOneLine): \(problems)"]
            made.leftOut = "read in part: " + card.problems[0].rawValue
        }
        return made
    }
}

extension Card {
    /// The types in which a card is provided, the most faithful first.
    var dataTypes: [String] {
        var types = [UTType.vCard.identifier, UTType.utf8PlainText.identifier]
        if mailURL != nil || !phoneNumbers.isEmpty { types.append(UTType.url.identifier) }
        if let picture { types.append(picture.contentType) }
        return types
    }

    /// The URL that starts a message to the first e-mail address.
    var mailURL: URL? {
        guard let address = emailAddresses.first?.value, address.contains("@") else { return nil }
        return address.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed).flatMap {
            URL(string: "mailto:" + $0)
        }
    }

    /// The URL that calls the first phone number.
    var phoneURL: URL? {
        guard let number = phoneNumbers.first?.value else { return nil }
        let dialled = number.utf8.filter { (0x30...0x39).contains($0) || "+*#".utf8.contains($0) }
        return dialled.isEmpty
            ? nil : URL(string: "tel:" + String(decoding: dialled, as: UTF8.self).replacing("#", with: "%23"))
    }
}

extension CSSearchableItemAttributeSet {
    fileprivate func setNames(_ card: Card) {
        let names = (card.nicknames + card.phoneticNames).filter { $0 != card.name }
        if !names.isEmpty { alternateNames = names }
        if !card.categories.isEmpty { keywords = card.categories }
        let summary = (card.titles + card.organisations.filter { $0 != card.name }).joined(separator: ", ").oneLine
        let description = summary.isEmpty ? card.emailAddresses.first?.value ?? card.phoneNumbers.first?.value : summary
        if let description { contentDescription = description.summary(maximumCharacters: 200) }
        if !card.organisations.isEmpty { organizations = card.organisations }
        if let birthday = card.birthday?.date { setCustomDate("com_searchlight_contacts_birthday", birthday) }
        if let birthday = card.birthday { setCustomText("com_searchlight_contacts_birthdayText", birthday.text) }
    }

    fileprivate func setAddresses(_ card: Card) {
        let addresses = card.emailAddresses.map(\.value)
        let numbers = card.phoneNumbers.map(\.value)
        if !addresses.isEmpty { emailAddresses = addresses }
        if !numbers.isEmpty {
            phoneNumbers = numbers
            let endings = numbers.compactMap(Self.endings(of:))
            if !endings.isEmpty { contactKeywords = endings }
            supportsPhoneCall = 1
        }
        if !card.messengers.isEmpty { instantMessageAddresses = card.messengers.map(\.value) }
    }

    /// Returns the endings of a phone number as digits, from four digits to all, so that it is
    /// found however its digits are grouped. Returns nil for a number with fewer than five digits,
    /// or more than 20.
    private static func endings(of number: String) -> String? {
        // An extension follows a semicolon or a letter.
        let digits = number.prefix { $0 != ";" && !$0.isLetter }.compactMap(\.wholeNumberValue)
        guard (5...20).contains(digits.count), digits.allSatisfy({ $0 < 10 }) else { return nil }
        let text = digits.map(String.init).joined()
        return (4...text.count).map { String(text.suffix($0)) }.joined(separator: " ")
    }

    fileprivate func setPlace(_ card: Card) {
        if let address = card.addresses.first {
            fullyFormattedAddress = address.line
            if !address.street.isEmpty { thoroughfare = address.street }
            if !address.city.isEmpty { city = address.city }
            if !address.region.isEmpty { stateOrProvince = address.region }
            if !address.postalCode.isEmpty { postalCode = address.postalCode }
            if !address.country.isEmpty { country = address.country }
            supportsNavigation = 1
        }
        if let position = card.position {
            (latitude, longitude) = (NSNumber(value: position.latitude), NSNumber(value: position.longitude))
        }
    }

    private func setCustomDate(_ name: String, _ value: Date) {
        guard let key = CSCustomAttributeKey(keyName: name) else { return }
        setValue(value as NSDate, forCustomKey: key)
    }

    private func setCustomText(_ name: String, _ value: String) {
        guard let key = CSCustomAttributeKey(keyName: name) else { return }
        setValue(value as NSString, forCustomKey: key)
    }
}
