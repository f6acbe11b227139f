// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// Replaces the personal text in a recording with placeholders of the same length.
///
/// A word always gets the same placeholder, so identifiers still match and domains still contain
/// each other. Separators and the names of public attributes, uniform types and interfaces are
/// kept. Numbers and dates in items become 0, their Booleans false, and large data becomes zeros.
package struct RecordingScrubber {
    private var placeholders: [[UInt8]: [UInt8]] = [:]
    /// The number of placeholders for each length.
    private var counts: [Int: Int] = [:]
    /// Returns `true` for the name of an attribute that is not the app's own.
    private let isPublic: (String) -> Bool

    private init(isPublic: @escaping (String) -> Bool) { self.isPublic = isPublic }

    /// Returns the recording without personal text.
    ///
    /// - Parameter isPublic: Returns `true` for the name of an attribute that is not the app's own.
    package static func scrubbed(
        _ recording: CallRecording, keepingAttributes isPublic: @escaping (String) -> Bool
    ) -> CallRecording {
        guard !recording.isScrubbed else { return recording }
        var scrubber = RecordingScrubber(isPublic: isPublic)
        var result = recording
        result.isScrubbed = true
        result.sessions = recording.sessions.map { session in
            RecordedSession(events: session.events.map { scrubber.scrub($0) }, ending: session.ending)
        }
        return result
    }

    private mutating func scrub(_ event: BoundaryEvent) -> BoundaryEvent {
        switch event {
        case .hostCall(let number, let kind, let cause, let arguments):
            return .hostCall(number: number, kind, cause: cause, scrub(arguments, kind))
        case .hostReturn(let number, let value):
            // Loading an extension fails with a message.
            guard var fields = value.list, fields.count == 3, fields[0] == .null else { return event }
            fields[2] = scrub(fields[2])
            return .hostReturn(number: number, .list(fields))
        case .extensionCall(let number, let within, let function, let arguments):
            return .extensionCall(number: number, within: within, function, scrub(arguments, function))
        case .extensionReturn, .cancelled, .truncated: return event
        }
    }

    private mutating func scrub(_ arguments: [BoundaryValue], _ kind: HostCallKind) -> [BoundaryValue] {
        // A promise names a uniform type, and the arguments of a load are not text.
        let kept: Int? = kind == .provideData || kind == .provideFile ? 2 : nil
        return arguments.enumerated().map { $0.offset == kept ? $0.element : scrub($0.element) }
    }

    private mutating func scrub(_ arguments: [BoundaryValue], _ function: BoundaryFunction) -> [BoundaryValue] {
        var result = arguments
        // An argument's position determines its parameter; two arrays with a common length are one
        // argument.
        for (position, parameter) in function.parameters.enumerated() where position < result.count {
            switch parameter {
            case .text(.vocabulary) where position == 1 && function.name.hasPrefix("set_"):
                if case .text(let name) = result[1] { result[1] = .text(scrub(attribute: name)) }
            case .text(.vocabulary), .texts(.vocabulary): break
            case .preview: result[position] = scrub(preview: result[position])
            case .bytes:
                if function.name == "index_records", case .bytes(let batch) = result[position] {
                    result[position] = .bytes(scrub(records: batch))
                } else if function.name == "commit_changes", position == 2, case .bytes(let list) = result[position] {
                    result[position] = .bytes(scrub(changes: list))
                } else {
                    result[position] = scrub(result[position])
                }
            case .int32 where function.name == "set_boolean": result[position] = .integer(0)
            case .int64, .double:
                if function.name.hasPrefix("set_"), function.name != "set_expiration" {
                    result[position] = parameter == .double ? BoundaryValue(0.0) : .integer(0)
                }
            default:
                let isType =
                    function.name.hasPrefix("set_string") && arguments.count > 1
                    && Self.holdsTypes(arguments[1].string ?? "") && Self.areTypes(result[position])
                if !isType { result[position] = scrub(result[position]) }
            }
        }
        return result
    }

    /// Returns `true` if the values of an attribute are uniform types.
    private static func holdsTypes(_ attribute: String) -> Bool {
        attribute.hasPrefix("contentType") || attribute.hasSuffix("TypeIdentifiers")
    }

    /// Returns `true` if a value has the form of uniform types.
    private static func areTypes(_ value: BoundaryValue) -> Bool {
        switch value {
        case .text: value.string.map(isType) ?? false
        case .list(let values): values.allSatisfy { areTypes($0) }
        default: false
        }
    }

    private static func areTypes(_ value: AttributeValue) -> Bool {
        switch value {
        case .string(let text): isType(text)
        case .array(let values): values.allSatisfy { areTypes($0) }
        default: false
        }
    }

    /// Returns `true` for a reverse-DNS name.
    private static func isType(_ text: String) -> Bool {
        text.utf8.contains(UInt8(ascii: "."))
            && text.utf8.allSatisfy { $0 < 0x80 && isLetter($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    }

    private mutating func scrub(preview: BoundaryValue) -> BoundaryValue {
        // The content type, the title, the content, the size, and the attachments with their types.
        guard var fields = preview.list, fields.count == 6 else { return scrub(preview) }
        fields[1] = scrub(fields[1])
        fields[2] = scrub(fields[2])
        fields[5] = .list(
            (fields[5].list ?? []).map { attachment in
                guard let parts = attachment.list, parts.count == 3 else { return scrub(attachment) }
                return .list([scrub(parts[0]), parts[1], scrub(parts[2])])
            })
        return .list(fields)
    }

    private mutating func scrub(_ value: BoundaryValue) -> BoundaryValue {
        switch value {
        case .text(let text): .text(scrub(text: text))
        // Client states and cursors are compared with each other.
        case .bytes(let bytes):
            .bytes(
                bytes.count <= Self.comparedBytes
                    ? placeholder(bytes, isText: false) : [UInt8](repeating: 0, count: bytes.count))
        case .list(let values): .list(values.map { scrub($0) })
        default: value
        }
    }

    /// Returns the name of an attribute. An app's own name gets placeholders for its words. A name
    /// that the host rejects is replaced by a name that it rejects too.
    private mutating func scrub(attribute name: [UInt8]) -> [UInt8] {
        let text = String(decoding: name, as: UTF8.self)
        guard !isPublic(text) else { return name }
        let reserved = Array("kMD".utf8)
        guard !name.starts(with: reserved) else { return reserved + scrub(text: Array(name.dropFirst(reserved.count))) }
        var result = scrub(text: name)
        if !AttributeTraits.isKeyName(text), AttributeTraits.isKeyName(String(decoding: result, as: UTF8.self)) {
            result[0] = UInt8(ascii: "-")
        }
        return result
    }

    private mutating func scrub(text: String) -> String {
        String(decoding: scrub(text: Array(text.utf8)), as: UTF8.self)
    }

    /// Returns a text with its words replaced by placeholders.
    private mutating func scrub(text: [UInt8]) -> [UInt8] {
        if let token = RecordedFolders.tokens.first(where: { text.starts(with: $0.utf8) }) {
            return Array(token.utf8) + scrub(text: Array(text.dropFirst(token.utf8.count)))
        }
        var result: [UInt8] = []
        for part in text.split(omittingEmptySubsequences: false, whereSeparator: { !Self.isLetter($0) }) {
            if part.startIndex > text.startIndex { result.append(text[part.startIndex - 1]) }
            if !part.isEmpty { result += placeholder(Array(part)) }
        }
        return result
    }

    /// Returns `true` for a byte that belongs to a word: an ASCII letter or digit, or part of
    /// another character.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte >= 0x80
    }

    /// The maximum size of a client state or cursor, in bytes.
    private static let comparedBytes = 4096

    /// The digits that placeholders use.
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)

    private mutating func placeholder(_ word: [UInt8], isText: Bool = true) -> [UInt8] {
        if word.isEmpty { return [] }
        if let known = placeholders[word] { return known }
        let number = counts[word.count, default: 0]
        counts[word.count] = number + 1
        var (rest, letters) = (number, [UInt8](repeating: Self.alphabet[0], count: word.count))
        // The digits of the number in base 62, starting at the end. There are enough for all ASCII
        // words; with other characters, placeholders of one and two bytes may repeat.
        for position in letters.indices.reversed() where rest > 0 {
            letters[position] = Self.alphabet[rest % Self.alphabet.count]
            rest /= Self.alphabet.count
        }
        // The placeholder of a text that is not UTF-8 is not UTF-8 either, so the host still
        // rejects it.
        if isText, String(validating: word, as: UTF8.self) == nil { letters[0] = 0xFF }
        placeholders[word] = letters
        return letters
    }

    // MARK: Encoded items

    private mutating func scrub(records batch: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        guard let records = try? RecordBatch.split(batch) else { return [UInt8](repeating: 0, count: batch.count) }
        for record in records {
            guard let decoded = try? ItemRecord(decoding: record), let encoded = try? scrub(decoded).encoded() else {
                RecordBatch.append([UInt8](repeating: 0, count: record.count), to: &result)
                continue
            }
            RecordBatch.append(encoded, to: &result)
        }
        return result
    }

    private mutating func scrub(changes bytes: [UInt8]) -> [UInt8] {
        guard let list = try? ChangeList(decoding: bytes) else { return [UInt8](repeating: 0, count: bytes.count) }
        var result = ChangeList()
        for change in list.changes {
            switch change {
            case .put(let batch): result.append(.put(scrub(records: Array(batch))))
            case .deleteItems(let names): result.append(.deleteItems(names.map { scrub(text: $0) }))
            case .deleteDomains(let names): result.append(.deleteDomains(names.map { scrub(text: $0) }))
            case .deleteAll: result.append(.deleteAll)
            case .renameItems(let renames):
                result.append(
                    .renameItems(
                        renames.map { ItemRename(scrub(text: $0.identifier), to: scrub(text: $0.newIdentifier)) }))
            }
        }
        return result.bytes
    }

    private mutating func scrub(_ record: ItemRecord) -> ItemRecord {
        var record = record
        record.uniqueIdentifier = scrub(text: record.uniqueIdentifier)
        record.domainIdentifier = record.domainIdentifier.map { scrub(text: $0) }
        let (attributes, traits) = (record.attributes, record.traits)
        (record.attributes, record.traits) = ([:], [:])
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            let scrubbed = String(decoding: scrub(attribute: Array(name.utf8)), as: UTF8.self)
            record.attributes[scrubbed] = Self.holdsTypes(name) && Self.areTypes(value) ? value : scrub(value)
            if let traits = traits[name] { record.traits[scrubbed] = traits }
        }
        return record
    }

    private mutating func scrub(_ value: AttributeValue) -> AttributeValue {
        switch value {
        case .null: return value
        case .boolean: return .boolean(false)
        case .string(let text): return .string(scrub(text: text))
        case .integer: return .integer(0)
        case .double: return .double(0)
        case .date: return .date(0)
        case .data(let bytes): return .data([UInt8](repeating: 0, count: bytes.count))
        case .url(let text): return .url(scrub(text: text))
        case .person(let person):
            return .person(
                PersonValue(
                    displayName: person.displayName.map { scrub(text: $0) },
                    handles: person.handles.map { scrub(text: $0) },
                    handleIdentifier: scrub(text: person.handleIdentifier),
                    contactIdentifier: person.contactIdentifier.map { scrub(text: $0) }))
        case .localizedString(let texts):
            var result: [String: String] = [:]
            for (language, text) in texts.sorted(by: { $0.key < $1.key }) { result[language] = scrub(text: text) }
            return .localizedString(result)
        case .array(let values): return .array(values.map { scrub($0) })
        case .dictionary(let values):
            var result: [String: AttributeValue] = [:]
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                result[scrub(text: name)] = scrub(value)
            }
            return .dictionary(result)
        }
    }
}
