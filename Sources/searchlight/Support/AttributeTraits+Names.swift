// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import JSONText

extension AttributeTraits {
    /// The traits by JSON name. The names are the parameter names of `CSCustomAttributeKey`'s
    /// initializer.
    private static let names: KeyValuePairs<String, AttributeTraits> = [
        "searchable": .searchable, "searchableByDefault": .searchableByDefault, "unique": .unique,
        "multiValued": .multiValued,
    ]

    /// Each trait, with `true` if it is set.
    var flags: [String: Bool] {
        Dictionary(Self.names.map { ($0.key, contains($0.value)) }) { first, _ in first }
    }

    /// The traits that differ from the default, in words.
    var summary: String {
        let others = Self.names.filter { $0.value != .searchable && contains($0.value) }.map(\.key)
        return ((contains(.searchable) ? [] : ["not searchable"]) + others).joined(separator: ", ")
    }

    /// Reads traits from JSON. Missing traits keep their default values.
    init(_ flags: [String: JSONValue], of key: String) throws(LineRefusal) {
        self = .standard
        for (name, value) in flags.sorted(by: { $0.key < $1.key }) {
            guard let trait = Self.names.first(where: { $0.key == name })?.value else {
                throw LineRefusal("\(key) in customKeys has the unknown trait \(name.prefix(80).debugDescription)")
            }
            guard case .bool(let isOn) = value else {
                throw LineRefusal("\(name) of \(key) in customKeys is \(value.kind) and not true or false")
            }
            if isOn { insert(trait) } else { remove(trait) }
        }
    }
}
