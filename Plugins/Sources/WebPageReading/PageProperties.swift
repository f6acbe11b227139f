// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The properties of the thing that a page is about, in the schema.org vocabulary, keyed by the
/// path of their names, such as `author.name`. JSON-LD and microdata have the same properties.
struct PageProperties {
    private static let maximumValues = 2000
    private static let maximumValue = 16 << 10
    private static let maximumDepth = 8
    private static let maximumThings = 100
    private static let maximumPath = 256
    /// The maximum size of a JSON-LD block, in bytes.
    static let maximumBlock = 1 << 20

    /// The types that describe a page or site rather than what the page is about.
    private static let frames: Set<String> = [
        "WebPage", "WebSite", "BreadcrumbList", "Organization", "ImageObject", "Person", "SearchAction",
        "SiteNavigationElement", "ListItem", "ItemPage", "CollectionPage", "NewsMediaOrganization", "Corporation",
        "ItemList",
        "WPHeader", "WPFooter", "WPSideBar", "AboutPage", "FAQPage", "ProfilePage",
    ]

    private var values: [String: [String]] = [:]
    private var count = 0

    var isEmpty: Bool { values.isEmpty }
    func all(_ names: String...) -> [String] { names.lazy.compactMap { values[$0] }.first ?? [] }
    func first(_ names: String...) -> String? { names.lazy.compactMap { values[$0]?.first }.first }
    func number(_ name: String) -> Double? {
        first(name).flatMap { Double($0.replacing(",", with: ".")) }.flatMap { $0.isFinite ? $0 : nil }
    }

    mutating func add(_ path: String, _ value: String) {
        let value = value.prefix(maximumUTF8Bytes: Self.maximumValue).trimmed
        guard !value.isEmpty, count < Self.maximumValues, path.utf8.count <= Self.maximumPath else { return }
        count += 1
        values[path, default: []].append(value)
    }

    /// Adds the properties that are missing here.
    mutating func complete(with other: PageProperties) { values.merge(other.values) { own, _ in own } }

    init() {}

    // MARK: JSON-LD

    /// Reads the first thing in the JSON-LD blocks that is neither the page nor the site; if there
    /// is none, the page.
    init(jsonLD blocks: [[UInt8]]) {
        var things: [[String: Any]] = []
        for block in blocks where block.count <= Self.maximumBlock {
            guard let value = try? JSONSerialization.jsonObject(with: Data(block)) else { continue }
            Self.collect(value, 0, &things)
        }
        let subject = things.first { thing in
            let types = Self.types(thing)
            return !types.isEmpty && !types.allSatisfy(Self.frames.contains)
        }
        guard let thing = subject ?? things.first(where: { Self.types($0).contains { $0.hasSuffix("Page") } }) else {
            return
        }
        add(thing, path: "", depth: 0)
    }

    private static func collect(_ value: Any, _ depth: Int, _ things: inout [[String: Any]]) {
        guard depth <= maximumDepth, things.count < maximumThings else { return }
        if let list = value as? [Any] {
            for each in list.prefix(maximumThings) { collect(each, depth + 1, &things) }
        } else if let thing = value as? [String: Any] {
            if thing["@type"] != nil { things.append(thing) }
            // A page may name the thing that it is about.
            for name in ["@graph", "mainEntity"] {
                if let inner = thing[name] { collect(inner, depth + 1, &things) }
            }
        }
    }

    /// Returns the type names, without the vocabulary's URL.
    private static func types(_ thing: [String: Any]) -> [String] {
        if let one = thing["@type"] as? String { return [typeName(one)] }
        return (thing["@type"] as? [Any] ?? []).compactMap { ($0 as? String).map(typeName) }
    }

    static func typeName(_ name: String) -> String {
        let end = name.prefix(maximumUTF8Bytes: maximumPath).split { $0 == "/" || $0 == ":" || $0 == "#" }.last
        return end.map(String.init) ?? ""
    }

    private mutating func add(_ value: Any, path: String, depth: Int) {
        guard depth <= Self.maximumDepth, count < Self.maximumValues else { return }
        switch value {
        case let text as String: add(path, path.hasSuffix("@type") ? Self.typeName(text) : text)
        case let number as NSNumber: add(path, number.stringValue)
        case let list as [Any]: for each in list.prefix(Self.maximumThings) { add(each, path: path, depth: depth + 1) }
        case let thing as [String: Any]:
            // Sorted, so that the order is deterministic.
            for (name, value) in thing.sorted(by: { $0.key < $1.key }) {
                add(value, path: path.isEmpty ? name : path + "." + name, depth: depth + 1)
            }
        default: break
        }
    }
}
