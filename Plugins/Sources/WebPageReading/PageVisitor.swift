// SPDX-License-Identifier: Apache-2.0
import FileReading

/// Reads what a page states about itself: links, Open Graph and other metadata, JSON-LD and
/// microdata.
final class PageVisitor: MarkupVisitor {
    private static let maximumBlocks = 20
    private static let maximumMetadata = 400
    private static let maximumText = 16 << 10
    private static let maximumOpen = 8
    static let maximumAppLinks = 20
    /// A picture in the page whose URL is shorter is considered an icon.
    private static let minimumPicture = 4 << 10
    private static let maximumPicture = 2 << 20

    /// The URL in `link rel="canonical"`.
    private(set) var canonical: String?
    /// The app URLs in `link rel="alternate"`.
    private(set) var appAddresses: [String] = []
    /// The values of `meta` elements by name or property, in lower case.
    private(set) var metadata: [String: [String]] = [:]
    private(set) var jsonLD: [[UInt8]] = []
    private(set) var microdata = PageProperties()
    /// The URL of the first picture that is embedded in the file and large enough.
    private(set) var picture: String?

    private var metadataCount = 0
    private var block: [UInt8]?
    private var depth = 0
    /// The open microdata properties, innermost last.
    private var properties: [(depth: Int, path: String, isThing: Bool, text: [UInt8]?)] = []
    /// The depth of the first thing that is not a property; later ones are other things.
    private var thing: (depth: Int, isOver: Bool)?

    override func start(_ name: String, _ attributes: MarkupAttributes) {
        depth += 1
        switch name {
        case "link": link(attributes)
        case "meta":
            guard let key = attributes["property"] ?? attributes["name"], let content = attributes["content"],
                metadataCount < Self.maximumMetadata, key.utf8.count <= 256
            else { break }
            metadataCount += 1
            metadata[key.lowercased(), default: []].append(content.prefix(maximumUTF8Bytes: Self.maximumText))
        case "script":
            let isData = attributes["type"]?.lowercased().hasPrefix("application/ld+json") == true
            if isData, jsonLD.count < Self.maximumBlocks { block = [] }
        case "img":
            guard picture == nil, let source = attributes["src"], source.utf8.count <= Self.maximumPicture else {
                break
            }
            let isLarge = source.hasPrefix("data:image/") && source.utf8.count >= Self.minimumPicture
            if isLarge || source.hasPrefix("cid:") || source.hasPrefix("http") { picture = source }
        default: break
        }
        startProperty(attributes)
    }

    private func link(_ attributes: MarkupAttributes) {
        guard let address = attributes["href"], let relation = attributes["rel"]?.lowercased(),
            address.utf8.count <= 4096
        else { return }
        if relation == "canonical", canonical == nil { canonical = address }
        let isApp = address.hasPrefix("android-app:") || address.hasPrefix("ios-app:")
        if relation == "alternate", isApp, appAddresses.count < Self.maximumAppLinks { appAddresses.append(address) }
    }

    private func startProperty(_ attributes: MarkupAttributes) {
        let isThing = attributes.has("itemscope") || attributes.has("itemtype")
        guard let name = attributes["itemprop"] else {
            guard isThing, thing == nil, properties.isEmpty else { return }
            thing = (depth, false)
            if let type = attributes["itemtype"] { microdata.add("@type", PageProperties.typeName(type)) }
            return
        }
        guard thing?.isOver == false, properties.count < Self.maximumOpen, name.utf8.count <= 64 else { return }
        let path = (properties.last(where: \.isThing).map { $0.path + "." } ?? "") + name
        if isThing {
            properties.append((depth, path, true, nil))
            if let type = attributes["itemtype"] { microdata.add(path + ".@type", PageProperties.typeName(type)) }
        } else if let value = ["content", "datetime", "href", "src"].lazy.compactMap({ attributes[$0] }).first {
            microdata.add(path, value)
        } else {
            properties.append((depth, path, false, []))
        }
    }

    override func end(_ name: String) {
        if name == "script", let bytes = block {
            jsonLD.append(bytes)
            block = nil
        }
        while let last = properties.last, last.depth >= depth {
            properties.removeLast()
            guard let text = last.text else { continue }
            microdata.add(last.path, String(decoding: text, as: UTF8.self).oneLine)
            // The text of a part also belongs to the text of the whole.
            if let outer = properties.indices.last, let size = properties[outer].text?.count {
                properties[outer].text?.append(contentsOf: text.prefix(Self.maximumText - size))
            }
        }
        if thing?.depth == depth { thing?.isOver = true }
        depth -= 1
    }

    override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        if let size = block?.count, size <= PageProperties.maximumBlock { block?.append(contentsOf: bytes) }
        if let last = properties.indices.last, let size = properties[last].text?.count, size < Self.maximumText {
            properties[last].text?.append(contentsOf: bytes.prefix(Self.maximumText - size))
        }
    }
}
