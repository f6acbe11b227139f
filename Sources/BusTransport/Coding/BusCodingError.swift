// SPDX-License-Identifier: Apache-2.0

/// The reason why a value cannot be encoded or decoded, with its position.
public struct BusCodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The keys from the outermost value to the invalid one, separated by dots; empty for the
    /// outermost value.
    public let path: String
    /// The reason, without a full stop.
    public let reason: String
    /// `true` if the value is too large, so that a smaller value could be encoded.
    public var isSize = false

    private static let maximumCharacters = 500

    /// The position and the reason.
    public var description: String { path.isEmpty ? reason : "\(path): \(reason)" }

    init(_ path: [any CodingKey], _ reason: String) {
        self.path = String(path.map(\.stringValue).joined(separator: ".").prefix(Self.maximumCharacters))
        var text = reason.prefix(Self.maximumCharacters)
        if text.hasSuffix(".") { text.removeLast() }
        self.reason = String(text)
    }

    init(_ error: any Error) {
        switch error {
        case let error as BusCodingError: self = error
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
            self.init(context.codingPath, context.debugDescription)
        case EncodingError.invalidValue(_, let context): self.init(context.codingPath, context.debugDescription)
        default: self.init([], "\(error)")
        }
    }

    static func tooManyEntries(_ path: [any CodingKey]) -> Self {
        var error = Self(path, "there are more than \(BusValue.maximumEntries) entries")
        error.isSize = true
        return error
    }

    static func tooDeep(_ path: [any CodingKey]) -> Self {
        Self(path, "values are nested more than \(BusValue.maximumDepth) deep")
    }
}

/// The position of a value within the outermost value. The list of keys is built only for an error.
final class BusCodingPath: Sendable {
    private let key: any CodingKey
    private let parent: BusCodingPath?

    init(_ key: any CodingKey, in parent: BusCodingPath?) { (self.key, self.parent) = (key, parent) }

    var keys: [any CodingKey] {
        var keys: [any CodingKey] = []
        var place: BusCodingPath? = self
        while let here = place {
            keys.append(here.key)
            place = here.parent
        }
        return keys.reversed()
    }

    private static let escape: Unicode.Scalar = "\\"

    /// Returns the name of a key on the bus. Scalars that D-Bus cannot represent are escaped. The
    /// empty name marks an absent value (``BusValue/absent``).
    static func name(of key: String) -> String {
        if !key.isEmpty, key.isFitForBus, !key.unicodeScalars.contains(escape) { return key }
        var name = String.UnicodeScalarView()
        for scalar in key.unicodeScalars {
            if scalar.isFitForBus, scalar != escape {
                name.append(scalar)
            } else {
                name.append(contentsOf: "\\\(String(scalar.value, radix: 16));".unicodeScalars)
            }
        }
        return key.isEmpty ? "\\;" : String(name)
    }

    /// Returns the key for a name; `nil` if the name is malformed.
    static func key(of name: String) -> String? {
        guard name.unicodeScalars.contains(escape) else { return name }
        var key = String.UnicodeScalarView()
        var rest = Substring(name).unicodeScalars
        while let scalar = rest.popFirst() {
            guard scalar == escape else {
                key.append(scalar)
                continue
            }
            let digits = rest.prefix { $0 != ";" }
            guard digits.endIndex < rest.endIndex else { return nil }
            rest = rest[rest.index(after: digits.endIndex)...]
            if digits.isEmpty { continue }
            guard let number = UInt32(String(digits), radix: 16), let escaped = Unicode.Scalar(number) else {
                return nil
            }
            key.append(escaped)
        }
        return String(key)
    }
}

/// A coding key with a name or an index that is known only at run time.
struct BusCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, nil) }
    init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}

extension String {
    /// `true` if D-Bus can represent the text. sd-bus rejects a message that contains a
    /// noncharacter.
    package var isFitForBus: Bool {
        if utf8.allSatisfy({ $0 != 0 && $0 < 0x80 }) { return true }
        return unicodeScalars.allSatisfy(\.isFitForBus)
    }
}

extension Unicode.Scalar {
    package var isFitForBus: Bool { value != 0 && !properties.isNoncharacterCodePoint }
}

extension BusValue {
    /// Returns a string value for any text. D-Bus strings end at the first NUL, and sd-bus rejects
    /// a message that contains a noncharacter.
    package static func string(text: String) -> BusValue { .string(text.fitForBus) }

    /// The value as it is sent as an argument: as bytes if it is a text with a noncharacter, and as
    /// an array with bytes if it has such texts. An identifier or a file name may have any
    /// characters except NUL, and must arrive unchanged.
    ///
    /// - Throws: ``BusError/malformed(_:)`` for a text with a NUL.
    func asArgument() throws(BusError) -> BusValue {
        switch self {
        case .string(let text): return try Self.argument(text)
        case .strings(let texts):
            if texts.allSatisfy(\.isFitForBus) { return self }
            return .array(try texts.map(Self.argument))
        default: return self
        }
    }

    private static func argument(_ text: String) throws(BusError) -> BusValue {
        guard !text.utf8.contains(0) else { throw .malformed("it contains a text with a NUL") }
        return text.busValue
    }

    /// The text of an argument, also if it was sent as bytes; `nil` for other values and bytes. It
    /// never has a NUL, where a path or a name would end.
    var argumentText: String? {
        switch self {
        case .string(let text): text
        case .bytes(let bytes): bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }
}

extension String {
    /// The text, with characters that D-Bus cannot represent replaced by replacement characters.
    package var fitForBus: String {
        if isFitForBus { return self }
        return String(UnicodeScalarView(unicodeScalars.map { $0.isFitForBus ? $0 : "\u{FFFD}" }))
    }
}
