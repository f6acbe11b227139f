// SPDX-License-Identifier: Apache-2.0
import CMarkup
import FileReading
import Foundation

/// Receives the elements and texts of an XML document. Names have no prefix.
class MarkupVisitor {
    func start(_ name: String, _ attributes: MarkupAttributes) {}
    func end(_ name: String) {}
    func text(_ bytes: UnsafeBufferPointer<UInt8>) {}

    /// Reads a document. Everything before a fault is visited.
    ///
    /// - Returns: The reason why the rest was not read; nil if everything was read.
    final func visit(_ xml: [UInt8]) -> DocumentProblem? {
        let handler = markup_handler(
            start: { context, name, attributes in
                MarkupVisitor.visitor(context)?.start(
                    name.map { String(cString: $0) } ?? "", MarkupAttributes(first: attributes))
            },
            end: { context, name in MarkupVisitor.visitor(context)?.end(name.map { String(cString: $0) } ?? "") },
            text: { context, text, length in
                text?.withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
                    MarkupVisitor.visitor(context)?.text(UnsafeBufferPointer(start: bytes, count: length))
                }
            })
        let result = withExtendedLifetime(self) {
            xml.withUnsafeBytes { bytes in
                withUnsafePointer(to: handler) { handler in
                    xml_read(
                        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, handler,
                        Unmanaged.passUnretained(self).toOpaque())
                }
            }
        }
        switch result {
        case MARKUP_READ: return nil
        case MARKUP_TOO_DEEP: return .tooDeep
        case MARKUP_TOO_LARGE: return .tooLarge
        default: return .damaged
        }
    }

    private static func visitor(_ context: UnsafeMutableRawPointer?) -> MarkupVisitor? {
        context.map { Unmanaged<MarkupVisitor>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// The attributes of an element, valid during the call that passes them.
struct MarkupAttributes {
    fileprivate let first: UnsafePointer<UnsafePointer<CChar>?>?

    /// Returns the value of an attribute by its name without a prefix.
    subscript(_ name: String) -> String? {
        guard var attribute = first else { return nil }
        while let key = attribute.pointee {
            let key = String(cString: key)
            let local = key.utf8.lastIndex(of: UInt8(ascii: ":")).map { key[key.utf8.index(after: $0)...] } ?? key[...]
            if local == name { return attribute[1].map { String(cString: $0) } }
            attribute += 2
        }
        return nil
    }

    /// Returns the value of an attribute that has a prefix, such as `r:id` beside `id`.
    subscript(prefixed name: String) -> String? {
        guard var attribute = first else { return nil }
        while let key = attribute.pointee {
            if String(cString: key).hasSuffix(":" + name) { return attribute[1].map { String(cString: $0) } }
            attribute += 2
        }
        return nil
    }
}

/// The texts of the elements of a small XML document by their names: the metadata of a package.
final class DocumentProperties: MarkupVisitor {
    private static let maximumValues = 1000
    private static let maximumValue = 4096
    /// Containers of RDF, whose text belongs to the element around them.
    private static let containers: Set<String> = ["Alt", "Seq", "Bag", "li"]

    private var values: [String: [String]] = [:]
    private var count = 0
    private var names: [String] = []
    private var current: [UInt8] = []

    func first(_ name: String) -> String? { values[name]?.first }
    func all(_ name: String) -> [String] { values[name] ?? [] }

    func date(_ name: String) -> Date? {
        let utc = TimeZone(secondsFromGMT: 0) ?? .current
        return first(name).flatMap { ISO8601.date(from: $0, timeZone: utc) }
    }

    func add(_ name: String, _ value: String) {
        let value = value.prefix(maximumUTF8Bytes: Self.maximumValue).trimmed
        guard !value.isEmpty, count < Self.maximumValues else { return }
        count += 1
        values[name, default: []].append(value)
    }

    override func start(_ name: String, _ attributes: MarkupAttributes) {
        flush()
        names.append(name)
        if name == "document-statistic", let pages = attributes["page-count"] { add("Pages", pages) }
        // EPUB 3: <meta property="dcterms:modified">…</meta>
        if name == "meta", let property = attributes["property"], property == "dcterms:modified" {
            names[names.count - 1] = "modified"
        }
    }

    override func end(_ name: String) {
        flush()
        _ = names.popLast()
    }

    override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        if current.count < Self.maximumValue { current.append(contentsOf: bytes.prefix(Self.maximumValue)) }
    }

    private func flush() {
        defer { current.removeAll() }
        guard !current.isEmpty, let name = names.last(where: { !Self.containers.contains($0) }) else { return }
        add(name, String(decoding: current, as: UTF8.self))
    }
}
