// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension MarkupVisitor {
    /// Reads an XML part of a document. Everything before a fault is visited.
    ///
    /// - Returns: The reason why the rest was not read; nil if everything was read.
    func visit(_ xml: [UInt8]) -> DocumentProblem? {
        switch read(xml: xml) {
        case nil: nil
        case .damaged: .damaged
        case .tooDeep: .tooDeep
        case .tooLarge: .tooLarge
        }
    }
}

/// Collects the texts of the elements in a small XML document by name, such as a package's
/// metadata.
final class DocumentProperties: MarkupVisitor {
    private static let maximumValues = 1000
    private static let maximumValue = 4096
    /// RDF containers, whose text belongs to the enclosing element.
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
