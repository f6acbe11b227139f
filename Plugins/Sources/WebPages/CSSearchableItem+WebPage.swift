// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import WebPageReading

extension WebPageFile {
    /// Returns the item for the page. The item never expires; it is deleted when the file is
    /// deleted.
    func item(_ content: WebPageContent) -> FileItem {
        let attributes = CSSearchableItemAttributeSet()
        attributes.title = content.title ?? stem
        attributes.displayName = content.title ?? stem
        attributes.textContent = content.text
        setProperties(content, attributes)
        setPlace(content, attributes)
        if let published = content.published { attributes.contentCreationDate = published }
        setFileAttributes(attributes, contentType: kind.contentType)
        if let modified = content.modified { attributes.contentModificationDate = modified }
        if let kept = content.kept { attributes.downloadedDate = kept }
        if let site = content.site { attributes.containerTitle = site }
        setAddresses(content, attributes)
        attributes.setMissingText(Int64(content.missing))
        if let picture = thumbnail(content) { attributes.thumbnailData = Data(picture.bytes) }
        attributes.providerDataTypeIdentifiers = dataTypes(content)
        attributes.providerFileTypeIdentifiers = [fileType(content)]
        attributes.providerInPlaceFileTypeIdentifiers = [fileType(content)]
        var made = FileItem(item(attributes), size: content.text.utf8.count + (attributes.thumbnailData?.count ?? 0))
        made.remarks = remarks(content)
        if content.problem != nil || content.missing > 0 {
            made.limitations = [content.text.isEmpty ? "without text" : "indexed in part"]
        }
        made.leftOut = content.problem?.kind
        return made
    }

    private func thumbnail(_ content: WebPageContent) -> WebPageContent.Picture? {
        content.picture.flatMap { $0.bytes.count <= WebPageContent.maximumThumbnail ? $0 : nil }
    }

    /// Returns the types in which the contents are delivered, the most faithful first.
    func dataTypes(_ content: WebPageContent) -> [String] {
        var types: [String] = []
        // An HTML file is itself promised as HTML.
        if kind == .mhtml, !content.text.isEmpty { types.append(UTType.html.identifier) }
        if !content.text.isEmpty { types.append(UTType.utf8PlainText.identifier) }
        if content.address != nil { types.append(UTType.url.identifier) }
        return types
    }

    /// Returns the type in which the file is promised. Receivers of a text type expect UTF-8.
    private func fileType(_ content: WebPageContent) -> String {
        switch content.problem {
        case .damaged, .notText: UTType.data.identifier
        default: kind == .mhtml || content.reading == .utf8 ? kind.contentType : UTType.text.identifier
        }
    }

    private func setProperties(_ content: WebPageContent, _ attributes: CSSearchableItemAttributeSet) {
        // Only existing values are set, because an attribute that is set to nil is also sent.
        if let description = content.description { attributes.contentDescription = description }
        if !content.authors.isEmpty { attributes.authorNames = content.authors }
        if !content.publishers.isEmpty { attributes.publishers = content.publishers }
        if !content.keywords.isEmpty { attributes.keywords = content.keywords }
        if let language = content.language { attributes.languages = [language] }
        if let starts = content.starts { attributes.startDate = starts }
        if let ends = content.ends { attributes.endDate = ends }
        if let duration = content.duration { attributes.duration = NSNumber(value: duration) }
        if let rating = content.rating { attributes.rating = NSNumber(value: rating) }
        if let type = content.type { attributes.setCustomText("com_searchlight_webpages_type", [type]) }
        if let price = content.price { attributes.setCustomText("com_searchlight_webpages_price", [price]) }
        if !content.phoneNumbers.isEmpty {
            attributes.phoneNumbers = content.phoneNumbers
            attributes.supportsPhoneCall = 1
        }
    }

    private func setPlace(_ content: WebPageContent, _ attributes: CSSearchableItemAttributeSet) {
        let place = content.place
        if let name = place.name { attributes.namedLocation = name }
        if let address = place.address { attributes.fullyFormattedAddress = address }
        if let city = place.city { attributes.city = city }
        if let country = place.country { attributes.country = country }
        if let latitude = place.latitude, let longitude = place.longitude {
            attributes.latitude = NSNumber(value: latitude)
            attributes.longitude = NSNumber(value: longitude)
        }
        if place.address != nil || place.latitude != nil { attributes.supportsNavigation = 1 }
    }

    /// Sets the URLs of the page. The item opens at the canonical URL, or else as a file.
    private func setAddresses(_ content: WebPageContent, _ attributes: CSSearchableItemAttributeSet) {
        if !content.appLinks.isEmpty {
            attributes.setCustomText("com_searchlight_webpages_appLinks", content.appLinks.map(\.absoluteString))
        }
        guard let address = content.address else { return }
        attributes.contentURL = address
        attributes.url = address
        // With the strong relation, the page would be deleted when no item with this identifier
        // exists.
        attributes.weakRelatedUniqueIdentifier = address.absoluteString
    }

    private func remarks(_ content: WebPageContent) -> [String] {
        let name = path.onOneLine
        var remarks: [String] = []
        if let problem = content.problem {
            remarks.append("\(name): \(problem.kind); indexed \(content.text.isEmpty ? "without text" : "in part")")
        }
        if let remark = content.reading.remark, kind != .mhtml, content.problem == nil {
            remarks.append("\(name) \(remark)")
        }
        if content.missing > 0 { remarks.append("\(name) is indexed in part: \(content.missing) bytes are left out") }
        return remarks
    }
}

extension CSSearchableItemAttributeSet {
    fileprivate func setCustomText(_ name: String, _ values: [String]) {
        let key = CSCustomAttributeKey(
            keyName: name, searchable: true, searchableByDefault: false, unique: false, multiValued: values.count > 1)
        if let key { setValue(values.count == 1 ? values[0] as NSString : values as NSArray, forCustomKey: key) }
    }
}
