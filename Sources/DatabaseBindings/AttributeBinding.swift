// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import JSONText
import MetadataQuery

/// An attribute of an item, and the template for its value.
package struct AttributeBinding: Hashable, Sendable {
    package let name: String
    package let template: DatabaseTemplate
    /// The kind of the attribute's values; `nil` for a custom attribute.
    let kind: AttributeValueKind?

    /// The attributes that the binding sets itself.
    private static let reserved = [
        "uniqueIdentifier", "domainIdentifier", "contentType", "contentTypeTree", "providerDataTypeIdentifiers",
        "providerFileTypeIdentifiers", "providerInPlaceFileTypeIdentifiers",
    ]

    init(_ name: String, _ value: JSONValue, at path: [String]) throws(DatabaseBindingError) {
        self.name = name
        guard case .text(let text) = value, (1...DatabaseLimits.templateBytes).contains(text.utf8.count) else {
            throw DatabaseBindingError(path, "It is \(value.shown)", "Give a template, such as {title}")
        }
        template = try DatabaseTemplate(text, at: path)
        guard !Self.reserved.contains(name) else {
            throw DatabaseBindingError(path, "\(name) is set by Key, Type and Promises", "Use those keys")
        }
        kind = try Self.kind(of: name, at: path)
        try Self.check(template, kind, at: path)
    }

    private static func kind(of name: String, at path: [String]) throws(DatabaseBindingError) -> AttributeValueKind? {
        if let known = AttributeNames.kind(of: name) {
            guard known != .headers else {
                throw DatabaseBindingError(
                    path, "The headers of a message cannot come from a column", "Remove the attribute")
            }
            return known
        }
        guard name.contains("_"), AttributeTraits.isKeyName(name) else {
            throw DatabaseBindingError(
                path, "There is no attribute \(name.cut)",
                "Use an attribute of CSSearchableItemAttributeSet, or a name with “_” such as com_example_recipe_yield",
                misspelt: .init(name: name.cut, known: AttributeNames.standard.sorted()))
        }
        return nil
    }

    private static func check(
        _ template: DatabaseTemplate, _ kind: AttributeValueKind?, at path: [String]
    ) throws(DatabaseBindingError) {
        let needsOne: Set<AttributeValueKind> = [.date, .dates, .number, .truth, .data, .people]
        if let kind, needsOne.contains(kind), template.only == nil {
            throw DatabaseBindingError(
                path, "The attribute is not a text, so the template must be a single column",
                kind == .date ? "Write {column:unix} or another unit of time" : "Write {column}")
        }
        guard kind == .date || kind == .dates, let only = template.only else { return }
        guard case .time = only.format else {
            let units = ColumnTimeUnit.allCases.map(\.rawValue)
            throw DatabaseBindingError(
                path, column: only.column, "The unit of its numbers is missing",
                "Add the unit: {\(only.column):unix}, or \(units.dropFirst().joined(separator: ", "))")
        }
    }

    /// Returns the value for a row; `nil` if the item does not have the attribute.
    func value(_ row: Row) -> AttributeValue? {
        let only = template.only
        switch kind {
        case .date: return moment(row).map(AttributeValue.date)
        case .dates: return moment(row).map { .array([.date($0)]) }
        case .number: return only.flatMap { Self.number(row[$0.column]) }
        case .truth: return only.flatMap { row[$0.column].number }.map { .boolean($0 != 0) }
        case .data:
            guard let only, case .blob(let bytes) = row[only.column], !bytes.isEmpty else { return nil }
            return .data(bytes)
        case .url: return template.text(row, .url).flatMap { $0.utf8.count <= 8192 ? Self.url($0) : nil }
        case .people:
            let people = only.map { DatabaseTemplate.values(row[$0.column], $0.format) } ?? []
            return people.isEmpty ? nil : .array(people.map { .person(Self.person($0)) })
        case .texts:
            let texts = only.map { DatabaseTemplate.values(row[$0.column], $0.format) } ?? text(row).map { [$0] } ?? []
            return texts.isEmpty ? nil : .array(texts.map(AttributeValue.string))
        case .text, .headers: return text(row).map(AttributeValue.string)
        case nil:
            if let only, only.format == .plain {
                switch row[only.column] {
                case .integer(let number): return .integer(number)
                case .real(let number): return .double(number)
                default: break
                }
            }
            if let only, only.format.isList {
                let texts = DatabaseTemplate.values(row[only.column], only.format)
                return texts.isEmpty ? nil : .array(texts.map(AttributeValue.string))
            }
            if case .time? = only?.format { return moment(row).map(AttributeValue.date) }
            return text(row).map(AttributeValue.string)
        }
    }

    private func moment(_ row: Row) -> Double? {
        guard let only = template.only, case .time(let unit) = only.format else { return nil }
        return unit.moment(row[only.column])
    }

    private func text(_ row: Row) -> String? {
        template.text(row, .none).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func number(_ value: RowValue) -> AttributeValue? {
        if case .integer(let number) = value { return .integer(number) }
        guard let number = value.number, number.isFinite else { return nil }
        return .double(number)
    }

    /// Returns a text as a URL if it is one: a scheme and a colon, or an absolute path, which
    /// becomes a file URL.
    private static func url(_ text: String) -> AttributeValue? {
        if text.hasPrefix("/") { return .url("file://" + DatabaseTemplate.percentEncoded(text, keepsSlashes: true)) }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.startIndex,
            text.utf8[..<colon].allSatisfy({ $0.isLetterOrDigit || "+-.".utf8.contains($0) }),
            text.utf8.first.map({ !(0x30...0x39).contains($0) }) == true,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return nil }
        return .url(text)
    }

    /// Returns a person for `Name <address>`, an address or a name.
    private static func person(_ text: String) -> PersonValue {
        if text.hasSuffix(">"), let open = text.lastIndex(of: "<") {
            let address = String(text[text.index(after: open)...].dropLast()).trimmed
            let name = String(text[..<open]).trimmed
            return PersonValue(
                displayName: name.isEmpty ? nil : name, handles: address.isEmpty ? [] : [address],
                handleIdentifier: "emailAddresses")
        }
        let isAddress = text.contains("@") && !text.contains(where: \.isWhitespace)
        return PersonValue(
            displayName: isAddress ? nil : text, handles: isAddress ? [text] : [],
            handleIdentifier: isAddress ? "emailAddresses" : "")
    }
}

extension ItemBinding {
    /// Returns the item for a row.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the item.
    ///   - domain: Its domain.
    package func record(_ row: Row, identifier: String, domain: String) -> ItemRecord {
        var record = ItemRecord(uniqueIdentifier: identifier, domainIdentifier: domain, expiration: .never)
        for attribute in attributes {
            guard var value = attribute.value(row) else { continue }
            if case .string(let text) = value, text.utf8.count > DatabaseLimits.textBytes {
                let kept = text.cut(toBytes: DatabaseLimits.textBytes)
                value = .string(kept)
                if attribute.name == "textContent" {
                    record.attributes[ItemRecord.missingTextAttribute] = .integer(
                        Int64(text.utf8.count - kept.utf8.count))
                }
            }
            record.attributes[attribute.name] = value
        }
        if let type = type?.text(row, .none, limit: 255), !type.isEmpty {
            record.attributes["contentType"] = .string(type)
        }
        var (data, files): ([String], [String]) = ([], [])
        for promise in promises {
            guard let type = promise.type.text(row, .none, limit: 255), !type.isEmpty else { continue }
            if case .file(let template) = promise.source {
                guard template.text(row, .none)?.hasPrefix("/") == true else { continue }
                files.append(type)
            } else {
                if case .template(let template) = promise.source, !template.hasValue(row) { continue }
                data.append(type)
            }
        }
        if !data.isEmpty { record.attributes["providerDataTypeIdentifiers"] = .array(data.map(AttributeValue.string)) }
        if !files.isEmpty {
            record.attributes["providerInPlaceFileTypeIdentifiers"] = .array(files.map(AttributeValue.string))
        }
        return record
    }
}
