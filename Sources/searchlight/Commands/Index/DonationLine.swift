// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import JSONText
import MetadataQuery
import Previews

/// A parsed donation line.
enum DonationLine {
    /// An item to add, replace or update, and the notes on its attributes.
    case item(EncodedItem, Set<DonatedAttributes.Note>)
    /// The end of the batch, with an optional client state.
    case endOfBatch(clientState: [UInt8]?)
    /// An empty line.
    case empty

    /// The maximum nesting depth of arrays and objects.
    private static let maximumDepth = 512

    init(_ bytes: some Collection<UInt8>) throws(LineRefusal) {
        guard !bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else {
            self = .empty
            return
        }
        let value: JSONValue
        do throws(JSONProblem) {
            value = try JSONValue(reading: Array(bytes)[...], maximumDepth: Self.maximumDepth)
        } catch {
            guard String(validating: bytes, as: UTF8.self) != nil else { throw LineRefusal("it is not UTF-8") }
            throw LineRefusal(error.text.hasSuffix(".") ? String(error.text.dropLast()) : error.text)
        }
        guard let fields = value.members else { throw LineRefusal("it is \(value.kind) and not an object") }
        self = fields["endBatch"] == nil ? try Self.item(fields) : try Self.endOfBatch(fields)
    }

    private static func endOfBatch(_ fields: [String: JSONValue]) throws(LineRefusal) -> DonationLine {
        guard fields.count == 1, let fields = fields["endBatch"]?.members,
            fields.keys.allSatisfy({ $0 == "clientState" })
        else {
            throw LineRefusal(#"the end of a batch must be {"endBatch": {}} or {"endBatch": {"clientState": "…"}}"#)
        }
        return .endOfBatch(clientState: try text("clientState", fields).map { Array($0.utf8) })
    }

    private static let fieldNames: Set<String> = [
        "uniqueIdentifier", "domainIdentifier", "attributes", "customKeys", "expirationDate", "isUpdate",
    ]

    private static func item(_ fields: [String: JSONValue]) throws(LineRefusal) -> DonationLine {
        if let unknown = fields.keys.filter({ !fieldNames.contains($0) }).min() {
            throw LineRefusal("an item has no field \(unknown.prefix(80).debugDescription)\(remedy(of: unknown))")
        }
        guard let identifier = try text("uniqueIdentifier", fields), !identifier.isEmpty else {
            throw LineRefusal("uniqueIdentifier is missing or empty")
        }
        var record = ItemRecord(uniqueIdentifier: identifier)
        record.domainIdentifier = try text("domainIdentifier", fields)
        // The index rejects a whole batch if a name contains a NUL, because the name would end
        // there.
        guard !identifier.utf8.contains(0), record.domainIdentifier?.utf8.contains(0) != true else {
            throw LineRefusal("uniqueIdentifier or domainIdentifier contains a NUL")
        }
        switch fields["isUpdate"] {
        case nil, .null?: break
        case .bool(let isUpdate)?: record.isUpdate = isUpdate
        case .some(let value): throw LineRefusal("isUpdate is \(value.kind) and not true or false")
        }
        if let expiration = fields["expirationDate"] { record.expiration = try self.expiration(expiration) }
        var notes: Set<DonatedAttributes.Note> = []
        switch fields["attributes"] {
        case nil, .null?: break
        case .object(let attributes)?:
            let keys = Set((fields["customKeys"]?.members ?? [:]).keys)
            let donated = try DonatedAttributes(attributes, keys: keys)
            (record.attributes, notes) = (donated.values, donated.notes)
        case .some(let value): throw LineRefusal("attributes is \(value.kind) and not an object")
        }
        record.traits = try traits(fields["customKeys"], of: record)
        do throws(ItemRecordError) {
            let item = try EncodedItem(record)
            // Decoding enforces limits that encoding does not check, such as the length of an
            // attribute name.
            _ = try EncodedItem(decoding: item.bytes)
            return .item(item, notes)
        } catch {
            throw LineRefusal(String(error.description.dropLast()))
        }
    }

    /// Returns a suggestion for an unknown field.
    private static func remedy(of field: String) -> String {
        if AttributeNames.kind(of: AttributeNames.propertyName(for: field)) != nil {
            return ". It is an attribute: put it into “attributes”"
        }
        let near = SpellingSuggestions.nearest(to: field, among: fieldNames.sorted())
        return near.isEmpty
            ? "; its fields are \(fieldNames.sorted().joined(separator: ", "))" : "; the nearest field is \(near[0])"
    }

    private static func traits(
        _ value: JSONValue?, of record: ItemRecord
    ) throws(LineRefusal) -> [String: AttributeTraits] {
        let keys: [JSONValue.Field]
        switch value {
        case nil, .null?: return [:]
        case .object(let fields)?: keys = fields
        case .some(let value): throw LineRefusal("customKeys is \(value.kind) and not an object")
        }
        var traits: [String: AttributeTraits] = [:]
        for field in keys.sorted(by: { $0.key < $1.key }) {
            let (name, value) = (field.key, field.value)
            let shown = name.prefix(80).debugDescription
            guard AttributeTraits.isKeyName(name) else {
                throw LineRefusal(
                    "customKeys has \(shown). Use only ASCII letters, digits and _ in a key, and do not begin it with kMD"
                )
            }
            guard record.attributes[name] != nil else {
                throw LineRefusal("customKeys has \(shown), which is missing from the attributes")
            }
            guard let flags = value.members else {
                throw LineRefusal("\(name.prefix(80)) in customKeys is \(value.kind) and not an object")
            }
            traits[name] = try AttributeTraits(flags, of: String(name.prefix(80)))
        }
        return traits.filter { $0.value != .standard }
    }

    private static func text(_ name: String, _ fields: [String: JSONValue]) throws(LineRefusal) -> String? {
        switch fields[name] {
        case nil, .null?: return nil
        case .text(let text)?: return text
        case .some(let value): throw LineRefusal("\(name) is \(value.kind) and not a text")
        }
    }

    private static func expiration(_ value: JSONValue) throws(LineRefusal) -> ItemRecord.Expiration {
        switch value {
        case .null: return .standard
        case .text("never"): return .never
        case .text(let text):
            if let moment = ISOMoment(text)?.instant, DisplayText.datableMoments.contains(moment) { return .at(moment) }
        default:
            if let seconds = value.number, DisplayText.datableMoments.contains(seconds) { return .at(seconds) }
        }
        throw LineRefusal(
            """
            expirationDate is \(value.shown), which is neither ISO 8601 nor “never” nor seconds since 2001 in the years 1 to 9999
            """)
    }
}
