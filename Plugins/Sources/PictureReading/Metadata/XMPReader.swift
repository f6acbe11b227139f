// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The properties in an XMP packet (ISO 16684-1), which is RDF in XML.
///
/// A property is an element or an attribute. Its value is a text or a list of entries.
final class XMPReader: MarkupVisitor {
    /// The maximum size of a packet, in bytes.
    static let maximumSize = 1 << 20
    private static let maximumValues = 5000
    private static let maximumValue = 16 << 10
    /// RDF elements whose text belongs to the enclosing property.
    private static let containers: Set<String> = ["RDF", "Alt", "Seq", "Bag", "li", "Description", "xmpmeta"]

    private var values: [String: [String]] = [:]
    private var count = 0
    private var names: [String] = []
    private var text: [UInt8] = []
    /// The depth of the region list that encloses the current element.
    private var listDepth: Int?
    /// The regions that enclose the current element, innermost last. Cameras and programs use
    /// regions to mark people.
    private var regions: [(depth: Int, name: String?, type: String?)] = []

    init(_ packet: [UInt8]) {
        super.init()
        guard packet.count <= Self.maximumSize else { return }
        _ = read(xml: packet)
    }

    private func first(_ name: String) -> String? { values[name]?.first }
    private func all(_ names: String..., limit: Int = 200) -> [String] {
        for name in names {
            let found = (values[name] ?? []).prefix(limit).compactMap(MetadataText.entry)
            if !found.isEmpty { return found }
        }
        return []
    }

    /// Returns the content with the packet's properties, which take precedence.
    func applied(to content: PictureContent) -> PictureContent {
        var content = content
        content.title = first("title") ?? content.title
        content.headline = first("Headline") ?? content.headline
        content.description = first("description") ?? content.description
        content.instructions = first("Instructions") ?? content.instructions
        content.copyright = first("rights") ?? content.copyright
        content.location.place = first("Location") ?? content.location.place
        content.location.city = first("City") ?? content.location.city
        content.location.state = first("State") ?? content.location.state
        content.location.country = first("Country") ?? first("CountryName") ?? content.location.country
        content.software = content.software ?? first("CreatorTool")
        content.camera.make = content.camera.make ?? first("Make")
        content.camera.model = content.camera.model ?? first("Model")
        content.camera.lens = content.camera.lens ?? first("LensModel") ?? first("Lens")
        let keywords = all("subject")
        if !keywords.isEmpty { content.keywords = keywords }
        let authors = all("creator", limit: 100)
        if !authors.isEmpty { content.authors = authors }
        var seen: Set<String> = []
        content.people = (all("PersonInImage") + all("Face") + all("PersonDisplayName")).filter {
            seen.insert($0).inserted
        }
        if let rating = first("Rating").flatMap({ Double($0) }), (0...5).contains(rating) {
            content.rating = Int(rating)
        }
        if content.captured == nil {
            let date = first("DateTimeOriginal") ?? first("DateCreated") ?? first("CreateDate")
            content.captured = date.flatMap { ISO8601.date(from: $0, timeZone: .current) }
        }
        if content.location.latitude == nil, let latitude = degrees("GPSLatitude", "N", "S", limit: 90),
            let longitude = degrees("GPSLongitude", "E", "W", limit: 180)
        {
            content.location.latitude = latitude
            content.location.longitude = longitude
        }
        return content
    }

    /// Returns the degrees for a text such as `59,54.5N` or `59,54,30N`.
    private func degrees(_ name: String, _ positive: Character, _ negative: Character, limit: Double) -> Double? {
        guard let text = first(name), let side = text.last, side == positive || side == negative else { return nil }
        let parts = text.dropLast().split(separator: ",").map { Double($0) }
        guard (2...3).contains(parts.count), let degrees = parts[0], let minutes = parts[1] else { return nil }
        let value = degrees + minutes / 60 + (parts.count > 2 ? parts[2] ?? 0 : 0) / 3600
        return (0...limit).contains(value) ? (side == negative ? -value : value) : nil
    }

    private func add(_ name: String, _ value: String) {
        guard count < Self.maximumValues, let value = MetadataText.text(value) else { return }
        count += 1
        if !regions.isEmpty, name == "Name" || name == "Type" {
            if name == "Name" {
                regions[regions.count - 1].name = value
            } else {
                regions[regions.count - 1].type = value
            }
        } else {
            values[name, default: []].append(value)
        }
    }

    override func start(_ name: String, _ attributes: MarkupAttributes) {
        flush()
        names.append(name)
        if name == "RegionList", listDepth == nil { listDepth = names.count }
        if listDepth != nil, name == "li" { regions.append((names.count, nil, nil)) }
        attributes.forEach { key, value in
            let local = key.utf8.lastIndex(of: UInt8(ascii: ":")).map { key[key.utf8.index(after: $0)...] } ?? key[...]
            if !["about", "parseType", "lang", "resource"].contains(local) { add(String(local), value) }
        }
    }

    override func end(_ name: String) {
        flush()
        if let region = regions.last, region.depth == names.count {
            regions.removeLast()
            // A region without a type is a face, as the first programs wrote regions.
            if let person = region.name, region.type == nil || region.type == "Face" { add("Face", person) }
        }
        if listDepth == names.count { listDepth = nil }
        _ = names.popLast()
    }

    override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        if text.count < Self.maximumValue { text.append(contentsOf: bytes.prefix(Self.maximumValue - text.count)) }
    }

    private func flush() {
        defer { text.removeAll() }
        guard !text.isEmpty, let name = names.last(where: { !Self.containers.contains($0) }) else { return }
        add(name, String(decoding: text, as: UTF8.self))
    }
}
