// SPDX-License-Identifier: Apache-2.0

/// Encodes a Swift value as a D-Bus value. Structures become `a{sv}`, lists become `as`, `aa{sv}`
/// or `av`, and bytes become `ay`. Numbers and Boolean values have their own types.
///
/// ```swift
/// let value = try BusEncoder.encode(["title": "Notes"])
/// ```
///
/// A text that D-Bus cannot represent (because of a NUL or a noncharacter) becomes its bytes. An
/// absent list element becomes ``BusValue/absent``; an absent field of a structure is left out.
public final class BusEncoder: Encoder {
    private let path: BusCodingPath?
    fileprivate var content = Content.none
    /// The number of further entries that are allowed in all containers together.
    private let room: Room

    /// The keys from the outermost value to this one.
    public var codingPath: [any CodingKey] { path?.keys ?? [] }
    /// Always empty.
    public var userInfo: [CodingUserInfoKey: Any] { [:] }

    fileprivate enum Content {
        case none
        case value(BusValue)
        case entries([String: Slot])
        case list([Slot])
    }

    /// An entry of a container: a complete value, or a nested container that is still being filled.
    fileprivate enum Slot {
        case value(BusValue)
        case nested(BusEncoder)
    }

    fileprivate final class Room {
        var entries = BusValue.maximumEntries
    }

    private init(_ path: BusCodingPath?, _ room: Room) { (self.path, self.room) = (path, room) }

    /// Encodes a value.
    ///
    /// - Throws: ``BusCodingError`` if ``BusValue/maximumEntries`` or ``BusValue/maximumDepth`` is
    ///   exceeded, and for errors that a value throws.
    public static func encode(_ value: some Encodable) throws(BusCodingError) -> BusValue {
        do {
            return try BusEncoder(nil, Room()).boxed(value).resolved(depth: 0)
        } catch {
            throw BusCodingError(error)
        }
    }

    /// Encodes the current value directly as a D-Bus value, for types that have no other form, such
    /// as descriptors.
    public func put(_ value: BusValue) { content = .value(value) }

    private func take() throws {
        room.entries -= 1
        guard room.entries >= 0 else { throw BusCodingError.tooManyEntries(codingPath) }
    }

    fileprivate func resolved(depth: Int) throws -> BusValue {
        switch content {
        case .none: return .dictionary([:])
        case .value(let value): return value
        case .entries(let slots):
            guard depth < BusValue.maximumDepth else { throw BusCodingError.tooDeep(codingPath) }
            return .dictionary(try slots.mapValues { try $0.resolved(depth: depth + 1) })
        case .list(let slots):
            guard depth < BusValue.maximumDepth else { throw BusCodingError.tooDeep(codingPath) }
            return Self.list(try slots.map { try $0.resolved(depth: depth + 1) })
        }
    }

    /// Returns the most compact form of a list.
    private static func list(_ values: [BusValue]) -> BusValue {
        switch values.first {
        case .string?, nil:
            var texts: [String] = []
            texts.reserveCapacity(values.count)
            for value in values { if case .string(let text) = value { texts.append(text) } }
            return texts.count == values.count ? .strings(texts) : .array(values)
        case .dictionary?:
            var list: [[String: BusValue]] = []
            list.reserveCapacity(values.count)
            for value in values { if case .dictionary(let entries) = value { list.append(entries) } }
            return list.count == values.count ? .dictionaries(list) : .array(values)
        default: return .array(values)
        }
    }

    // MARK: Values

    fileprivate func slot<Value: Encodable>(_ value: Value, _ key: any CodingKey) throws -> Slot {
        try take()
        if Value.self == [UInt8].self, let bytes = value as? [UInt8] { return .value(.bytes(bytes)) }
        if let value = value as? any BusLeaf { return .value(value.busValue) }
        return try BusEncoder(BusCodingPath(key, in: path), room).boxed(value).finished
    }

    private func boxed<Value: Encodable>(_ value: Value) throws -> BusEncoder {
        if Value.self == [UInt8].self, let bytes = value as? [UInt8] {
            put(.bytes(bytes))
        } else if let value = value as? any BusLeaf {
            put(value.busValue)
        } else {
            try value.encode(to: self)
        }
        return self
    }

    private var finished: Slot { if case .value(let value) = content { .value(value) } else { .nested(self) } }

    // MARK: Containers

    /// Returns a container of named values.
    public func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .entries = content {} else { content = .entries([:]) }
        return KeyedEncodingContainer(Entries<Key>(encoder: self))
    }

    /// Returns a container of values in order.
    public func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .list = content {} else { content = .list([]) }
        return List(encoder: self)
    }

    /// Returns a container of one value.
    public func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }

    fileprivate func set(_ slot: Slot, _ key: any CodingKey) {
        guard case .entries(var slots) = content else { return }
        content = .none
        slots[BusCodingPath.name(of: key.stringValue)] = slot
        content = .entries(slots)
    }

    fileprivate func append(_ slot: Slot) {
        guard case .list(var slots) = content else { return }
        content = .none
        slots.append(slot)
        content = .list(slots)
    }

    fileprivate var count: Int { if case .list(let slots) = content { slots.count } else { 0 } }
}

extension BusEncoder.Slot {
    fileprivate func resolved(depth: Int) throws -> BusValue {
        switch self {
        case .value(let value): value
        case .nested(let encoder): try encoder.resolved(depth: depth)
        }
    }
}

private struct Entries<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: BusEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) {}
    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        encoder.set(try encoder.slot(value, key), key)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        let nested = encoder.nestedEncoder(key, .entries([:]))
        encoder.set(.nested(nested), key)
        return nested.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let nested = encoder.nestedEncoder(key, .list([]))
        encoder.set(.nested(nested), key)
        return nested.unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder.nestedEncoder(BusCodingKey("super"), .none) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder.nestedEncoder(key, .none) }
}

private struct List: UnkeyedEncodingContainer {
    let encoder: BusEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    mutating func encodeNil() throws { encoder.append(.value(try encoder.counted(.absent))) }
    mutating func encode<Value: Encodable>(_ value: Value) throws {
        encoder.append(try encoder.slot(value, BusCodingKey(count)))
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        let nested = encoder.nestedEncoder(BusCodingKey(count), .entries([:]))
        encoder.append(.nested(nested))
        return nested.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let nested = encoder.nestedEncoder(BusCodingKey(count), .list([]))
        encoder.append(.nested(nested))
        return nested.unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        let nested = encoder.nestedEncoder(BusCodingKey(count), .none)
        encoder.append(.nested(nested))
        return nested
    }
}

private struct Single: SingleValueEncodingContainer {
    let encoder: BusEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() { encoder.put(.absent) }
    mutating func encode<Value: Encodable>(_ value: Value) throws { try encoder.replace(value) }
}

extension BusEncoder {
    fileprivate func counted(_ value: BusValue) throws -> BusValue {
        try take()
        return value
    }

    fileprivate func nestedEncoder(_ key: any CodingKey, _ content: Content) -> BusEncoder {
        // Requesting a container cannot throw, so only its entries are counted.
        let encoder = BusEncoder(BusCodingPath(key, in: path), room)
        encoder.content = content
        return encoder
    }

    fileprivate func replace(_ value: some Encodable) throws { _ = try boxed(value) }
}
