// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import DocumentReading
import FileDonations
import FileReading

extension DocumentFile {
    /// Returns the item for the document. The item never expires; it is deleted when the file is
    /// deleted.
    func item(_ content: DocumentContent) -> FileItem {
        let attributes = CSSearchableItemAttributeSet()
        attributes.title = content.title ?? stem
        attributes.displayName = content.title ?? stem
        attributes.textContent = content.text
        setProperties(content, attributes)
        if let created = content.created { attributes.contentCreationDate = created }
        setFileAttributes(attributes, contentType: kind.contentType)
        attributes.setMissingText(Int64(content.missing))
        if let picture = content.thumbnail { attributes.thumbnailData = Data(picture.bytes) }
        attributes.providerDataTypeIdentifiers = dataTypes(content)
        attributes.providerFileTypeIdentifiers = [fileType(content)]
        attributes.providerInPlaceFileTypeIdentifiers = [fileType(content)]
        var made = FileItem(item(attributes), size: content.text.utf8.count + (content.thumbnail?.bytes.count ?? 0))
        made.remarks = remarks(content)
        made.limitations = limitations(content)
        made.leftOut = content.problem?.kind
        return made
    }

    /// Returns the types in which the document's contents are delivered, the most faithful first.
    func dataTypes(_ content: DocumentContent) -> [String] {
        var types: [String] = []
        if !content.text.isEmpty {
            types = [UTType.html.identifier, UTType.utf8PlainText.identifier]
            if kind.format == .plainText || kind.format == .sourceText { types.reverse() }
            types.append(UTType.utf16PlainText.identifier)
        }
        // The picture is either rendered on request or taken from the package.
        if let picture = content.thumbnail { types.append(picture.contentType) }
        return types.filter { $0 != kind.contentType }
    }

    /// Returns the type in which the file itself is promised. A file whose content does not match
    /// its name's type is promised as data. Receivers of a text type expect UTF-8, so a file in
    /// another encoding is promised as the general text type.
    private func fileType(_ content: DocumentContent) -> String {
        switch (content.problem, kind.format) {
        case (.damaged, _), (.notText, _), (.encrypted, .wordProcessing), (.encrypted, .presentation),
            (.encrypted, .spreadsheet):
            UTType.data.identifier
        default: content.reading == .utf8 ? kind.contentType : UTType.text.identifier
        }
    }

    private func setProperties(_ content: DocumentContent, _ attributes: CSSearchableItemAttributeSet) {
        // Only existing values are set, because an attribute that is set to nil is also sent.
        if !content.authors.isEmpty { attributes.authorNames = content.authors }
        if !content.keywords.isEmpty { attributes.keywords = content.keywords }
        if !content.languages.isEmpty { attributes.languages = content.languages }
        if !content.publishers.isEmpty { attributes.publishers = content.publishers }
        if let subject = content.subject { attributes.subject = subject }
        if let summary = content.summary { attributes.contentDescription = summary }
        if let pages = content.pageCount { attributes.pageCount = NSNumber(value: pages) }
    }

    private func remarks(_ content: DocumentContent) -> [String] {
        var remarks: [String] = []
        let name = path.onOneLine
        if let problem = content.problem, problem != .notText {
            remarks.append("\(name): \(problem.kind); indexed \(content.text.isEmpty ? "without text" : "in part")")
        }
        if let remark = content.reading.remark { remarks.append("\(name) \(remark)") }
        if content.missing > 0 { remarks.append("\(name) is indexed in part: \(content.missing) bytes are left out") }
        return remarks
    }

    private func limitations(_ content: DocumentContent) -> [String] {
        var limitations: [String] = []
        let hasText = !content.text.isEmpty
        if content.missing > 0 || content.problem != nil && hasText { limitations.append("indexed in part") }
        if content.problem != nil, !hasText { limitations.append("without text") }
        if content.reading != .utf8, content.reading != .binary { limitations.append("not in UTF-8") }
        return limitations
    }
}
