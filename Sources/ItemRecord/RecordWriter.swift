// SPDX-License-Identifier: Apache-2.0

/// The type tags in an item record, each of which precedes a value.
enum ValueTag {
    static let null: UInt8 = 0
    static let string: UInt8 = 1
    static let integer: UInt8 = 2
    static let double: UInt8 = 3
    static let no: UInt8 = 4
    static let yes: UInt8 = 5
    static let date: UInt8 = 6
    static let data: UInt8 = 7
    static let url: UInt8 = 8
    static let person: UInt8 = 9
    static let localizedString: UInt8 = 10
    static let array: UInt8 = 11
    static let dictionary: UInt8 = 12
    /// A marker for the traits of the attribute whose value follows; not a value itself.
    static let traits: UInt8 = 13
}

/// Appends the fields of an item record to a byte array.
struct RecordWriter {
    private(set) var bytes: [UInt8] = []
    private var valueCount = 0

    init() { bytes.reserveCapacity(512) }

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Appends a count as unsigned LEB128: seven bits per byte, least significant first.
    mutating func count(_ value: Int) { unsigned(UInt64(value)) }

    mutating func unsigned(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Appends a signed integer in zigzag encoding, in which small negative numbers are short.
    mutating func signed(_ value: Int64) { unsigned(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

    mutating func double(_ value: Double) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func string(_ value: String) {
        count(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    mutating func optionalString(_ value: String?) {
        byte(value == nil ? 0 : 1)
        if let value { string(value) }
    }

    mutating func traits(_ traits: AttributeTraits) {
        byte(ValueTag.traits)
        byte(traits.intersection(.all).rawValue)
    }

    mutating func value(_ value: AttributeValue, depth: Int) throws(ItemRecordError) {
        try ItemLimit.depth.check(depth)
        valueCount += 1
        try ItemLimit.values.check(valueCount)
        switch value {
        case .null: byte(ValueTag.null)
        case .string(let text):
            byte(ValueTag.string)
            string(text)
        case .integer(let number):
            byte(ValueTag.integer)
            signed(number)
        case .double(let number):
            byte(ValueTag.double)
            double(number)
        case .boolean(let truth): byte(truth ? ValueTag.yes : ValueTag.no)
        case .date(let moment):
            byte(ValueTag.date)
            double(moment)
        case .data(let data):
            byte(ValueTag.data)
            count(data.count)
            bytes.append(contentsOf: data)
        case .url(let text):
            byte(ValueTag.url)
            string(text)
        case .person(let person): try self.person(person)
        case .localizedString(let texts):
            byte(ValueTag.localizedString)
            try elements(texts.count)
            for (language, text) in texts.sorted(by: { $0.key < $1.key }) {
                string(language)
                string(text)
            }
        case .array(let values):
            byte(ValueTag.array)
            try elements(values.count)
            for element in values { try self.value(element, depth: depth + 1) }
        case .dictionary(let values):
            byte(ValueTag.dictionary)
            try elements(values.count)
            for (name, element) in values.sorted(by: { $0.key < $1.key }) {
                string(name)
                try self.value(element, depth: depth + 1)
            }
        }
    }

    private mutating func person(_ person: PersonValue) throws(ItemRecordError) {
        byte(ValueTag.person)
        optionalString(person.displayName)
        string(person.handleIdentifier)
        optionalString(person.contactIdentifier)
        try elements(person.handles.count)
        for handle in person.handles { string(handle) }
    }

    private mutating func elements(_ value: Int) throws(ItemRecordError) {
        try ItemLimit.elements.check(value)
        count(value)
    }
}
