// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import ExampleSupport

extension UTType {
    /// The type of the app's files. The manifest exports it, as a kind of picture, so it is found
    /// among pictures and can be dropped wherever a picture is accepted.
    public static var pixelArt: UTType { UTType(exportedAs: "com.example.Pictures.pixel-art", conformingTo: .image) }
}

extension PixelArt {
    /// The item in the index.
    public var searchableItem: CSSearchableItem {
        let attributes = CSSearchableItemAttributeSet(contentType: .pixelArt)
        attributes.title = title
        attributes.displayName = title
        attributes.contentDescription = caption
        attributes.pixelWidth = NSNumber(value: size.width)
        attributes.pixelHeight = NSNumber(value: size.height)
        attributes.contentURL = Gallery.url(of: id)
        attributes.thumbnailData = png
        // The original can be opened where it is. A copy also comes as a PNG.
        attributes.providerInPlaceFileTypeIdentifiers = [UTType.pixelArt.identifier]
        attributes.providerFileTypeIdentifiers = [UTType.pixelArt.identifier, UTType.png.identifier]
        let item = CSSearchableItem(uniqueIdentifier: id, domainIdentifier: "pictures", attributeSet: attributes)
        item.expirationDate = .distantFuture
        return item
    }

    /// The page of a preview, with the words of the search marked.
    public func html(marking query: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head><meta charset="utf-8"><meta name="color-scheme" content="light dark">\
        <title>\(title.escapedForHTML)</title></head>
        <body>
        <h1>\(marked(title, query))</h1>
        <p><img src="cid:picture" alt="\(title.escapedForHTML)"></p>
        <p>\(marked(caption, query))</p>
        </body>
        </html>

        """
    }

    /// The text as HTML, with each word marked that begins with a word of the search.
    private func marked(_ text: String, _ query: String) -> String {
        let sought = query.split { !$0.isLetter && !$0.isNumber }.map { $0.lowercased() }
        return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let isSought = sought.contains { word.lowercased().hasPrefix($0) }
            return isSought ? "<mark>\(String(word).escapedForHTML)</mark>" : String(word).escapedForHTML
        }.joined(separator: " ")
    }
}
