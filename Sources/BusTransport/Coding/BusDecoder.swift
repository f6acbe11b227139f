// SPDX-License-Identifier: Apache-2.0

/// Decodes values that ``BusEncoder`` encoded. Any D-Bus value may arrive; an unexpected value is
/// an error that states its position.
public struct BusDecoder: Decoder {
    private let value: BusValue
    private let path: BusCodingPath?

    /// The keys from the outermost value to this one.
    public var codingPath: [any CodingKey] { path?.keys ?? [] }
    /// Always empty.
    public var userInfo: [CodingUserInfoKey: Any] { [:] }

    fileprivate init(_ value: BusValue, _ path: BusCodingPath?) { (self.value, self.path) = (value, path) }

    /// Decodes a value.
    public static func decode<Value: Decodable>(
        _ type: Value.Type, from value: BusValue
    ) throws(BusCodingError) -> Value {
        do { return try BusDecoder(value, nil).decode(type) } catch { throw BusCodingError(error) }
    }

    /// The D-Bus value itself, for types that have no other form, such as descriptors.
    public var raw: BusValue { value }

    fileprivate func at(_ key: any CodingKey, _ value: BusValue) -> BusDecoder {
        BusDecoder(value, BusCodingPath(key, in: path))
    }

    /// Returns a type mismatch error for this position.
    func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(
            type,
            .init(codingPath: codingPath, debugDescription: "a value of type \(value.signature) is not a \(type)"))
    }

    /// Returns a container of named values.
    public func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .dictionary(let entries) = value else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(Entries<Key>(decoder: self, entries: entries))
    }

    /// Returns a container of values in order.
    public func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        switch value {
        case .array(let values): List(decoder: self, values: values)
        case .strings(let texts): List(decoder: self, values: texts.map { .string($0) })
        case .dictionaries(let list): List(decoder: self, values: list.map { .dictionary($0) })
        default: throw mismatch([Any].self)
        }
    }

    /// Returns a container of one value.
    public func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(decoder: self) }

    // MARK: Values

    fileprivate var isAbsent: Bool { value.isAbsent }

    fileprivate func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == [UInt8].self, case .bytes(let bytes) = value, let bytes = bytes as? Value { return bytes }
        if let leaf = type as? any BusLeaf.Type, let value = try leaf.read(self) as? Value { return value }
        return try Value(from: self)
    }
}

/// A type that maps directly to a D-Bus type.
protocol BusLeaf {
    var busValue: BusValue { get }
    static func read(_ decoder: BusDecoder) throws -> Self
}

extension BusLeaf where Self: FixedWidthInteger {
    var busValue: BusValue { Self.isSigned ? .signed(Int64(self)) : .unsigned(UInt64(self)) }

    static func read(_ decoder: BusDecoder) throws -> Self {
        let number: Self? =
            switch decoder.raw {
            case .signed(let number): Self(exactly: number)
            case .unsigned(let number): Self(exactly: number)
            case .signed32(let number): Self(exactly: number)
            case .unsigned32(let number): Self(exactly: number)
            default: throw decoder.mismatch(Self.self)
            }
        guard let number else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "the number is too large or too small"))
        }
        return number
    }
}

extension Int: BusLeaf {}
extension Int8: BusLeaf {}
extension Int16: BusLeaf {}
extension Int32: BusLeaf {}
extension Int64: BusLeaf {}
extension UInt: BusLeaf {}
extension UInt8: BusLeaf {}
extension UInt16: BusLeaf {}
extension UInt32: BusLeaf {}
extension UInt64: BusLeaf {}

extension Bool: BusLeaf {
    var busValue: BusValue { .boolean(self) }

    static func read(_ decoder: BusDecoder) throws -> Bool {
        guard case .boolean(let truth) = decoder.raw else { throw decoder.mismatch(Bool.self) }
        return truth
    }
}

extension Double: BusLeaf {
    var busValue: BusValue { .double(self) }

    static func read(_ decoder: BusDecoder) throws -> Double {
        guard case .double(let number) = decoder.raw else { throw decoder.mismatch(Double.self) }
        return number
    }
}

extension Float: BusLeaf {
    var busValue: BusValue { .double(Double(self)) }

    static func read(_ decoder: BusDecoder) throws -> Float { Float(try Double.read(decoder)) }
}

extension String: BusLeaf {
    var busValue: BusValue { isFitForBus ? .string(self) : .bytes(Array(utf8)) }

    static func read(_ decoder: BusDecoder) throws -> String {
        switch decoder.raw {
        case .string(let text): return text
        case .bytes(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self) else { throw decoder.mismatch(String.self) }
            return text
        default: throw decoder.mismatch(String.self)
        }
    }
}

extension BusValue {
    /// A placeholder for an absent value in a list.
    static let absent = BusValue.dictionary(["": .boolean(false)])

    var isAbsent: Bool {
        if case .dictionary(let entries) = self { entries.count == 1 && entries[""] != nil } else { false }
    }
}

private struct Entries<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: BusDecoder
    let entries: [String: BusValue]
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { entries.keys.compactMap { BusCodingPath.key(of: $0).flatMap { Key(stringValue: $0) } } }

    private func find(_ key: Key) -> BusValue? { entries[BusCodingPath.name(of: key.stringValue)] }

    private func at(_ key: Key) throws -> BusDecoder {
        guard let value = find(key) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "\(key.stringValue) is missing"))
        }
        return decoder.at(key, value)
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) -> Bool { find(key)?.isAbsent ?? true }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try at(key).decode(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try at(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try at(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder.at(BusCodingKey("super"), entries["super"] ?? .absent) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try at(key) }
}

private struct List: UnkeyedDecodingContainer {
    let decoder: BusDecoder
    let values: [BusValue]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    init(decoder: BusDecoder, values: [BusValue]) { (self.decoder, self.values) = (decoder, values) }

    /// Reads the next element. Advances only if that succeeds.
    private mutating func next<Value>(_ body: (BusDecoder) throws -> Value) throws -> Value {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self, .init(codingPath: codingPath, debugDescription: "the list ends after \(values.count)"))
        }
        let value = try body(decoder.at(BusCodingKey(currentIndex), values[currentIndex]))
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, values[currentIndex].isAbsent else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next { try $0.decode(type) } }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}

private struct Single: SingleValueDecodingContainer {
    let decoder: BusDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isAbsent }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }
}
