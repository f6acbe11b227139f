// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SystemSupport

/// Bytes for a message. A small number is sent within the message, a larger number as a stream that
/// the sender fills while the receiver reads.
public enum Payload: Sendable {
    /// The bytes themselves.
    case inline([UInt8])
    /// A readable stream of exactly `length` bytes.
    case stream(OwnedDescriptor, length: UInt64)

    /// The maximum number of bytes within a message. Above it, copying them through the message
    /// costs more than using a stream.
    public static let maximumInlineBytes = 64 << 10

    /// The number of bytes.
    public var length: UInt64 {
        switch self {
        case .inline(let bytes): UInt64(bytes.count)
        case .stream(_, let length): length
        }
    }

    /// The arguments of the payload.
    public var arguments: [BusValue] {
        switch self {
        case .inline(let bytes): [.bytes(bytes)]
        case .stream(let descriptor, let length): [.descriptor(descriptor), .unsigned(length)]
        }
    }

    /// Reads a payload from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        switch try arguments.value() {
        case .bytes(let bytes): self = .inline(bytes)
        case .descriptor(let descriptor): self = .stream(descriptor, length: try arguments.unsigned())
        case let other: throw .malformed("a payload begins with type \(other.signature)")
        }
    }
}

/// A file that fulfils a promise. The worker opens it, and the receiver reads it.
public struct FileReply: Sendable {
    /// The file, or a package (a folder that users see as one file), open for reading.
    public var descriptor: OwnedDescriptor
    /// The name chosen by the provider: one path component, or empty.
    public var name: String

    /// Creates a reply.
    public init(descriptor: OwnedDescriptor, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// The arguments of the reply.
    public var arguments: [BusValue] { [.descriptor(descriptor), .string(name)] }

    /// Reads a reply from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``, including if the name is a path.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        descriptor = try arguments.descriptor()
        name = try arguments.string()
        guard !name.utf8.contains(UInt8(ascii: "/")), name != "..", name != "." else {
            throw .malformed("the file name \(name.debugDescription) is a path")
        }
    }
}

extension Payload: Codable {
    private enum CodingKeys: CodingKey { case bytes, stream, length }

    /// Decodes a payload. A stream can only be decoded from a D-Bus value.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        if values.contains(.bytes) {
            self = .inline(try values.decode([UInt8].self, forKey: .bytes))
        } else {
            self = .stream(
                try values.decode(TravellingDescriptor.self, forKey: .stream).descriptor,
                length: try values.decode(UInt64.self, forKey: .length))
        }
    }

    /// Encodes a payload. A stream can only be encoded as a D-Bus value.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .inline(let bytes): try values.encode(bytes, forKey: .bytes)
        case .stream(let descriptor, let length):
            try values.encode(TravellingDescriptor(descriptor: descriptor), forKey: .stream)
            try values.encode(length, forKey: .length)
        }
    }
}

extension FileReply: Codable {
    private enum CodingKeys: CodingKey { case file, name }

    /// Decodes a reply from a D-Bus value.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        var arguments = BusArguments(
            [
                .descriptor(try values.decode(TravellingDescriptor.self, forKey: .file).descriptor),
                .string(try values.decode(String.self, forKey: .name)),
            ], of: "a file")
        try self.init(&arguments)
    }

    /// Encodes a reply as a D-Bus value.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(TravellingDescriptor(descriptor: descriptor), forKey: .file)
        try values.encode(name, forKey: .name)
    }
}

/// A descriptor, which can only be transferred in a D-Bus message.
private struct TravellingDescriptor: Codable {
    let descriptor: OwnedDescriptor

    init(descriptor: OwnedDescriptor) { self.descriptor = descriptor }

    init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? BusDecoder, case .descriptor(let descriptor) = decoder.raw else {
            throw DecodingError.typeMismatch(
                OwnedDescriptor.self, .init(codingPath: decoder.codingPath, debugDescription: "there is no descriptor"))
        }
        self.descriptor = descriptor
    }

    func encode(to encoder: any Encoder) throws {
        guard let encoder = encoder as? BusEncoder else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "only D-Bus carries descriptors"))
        }
        encoder.put(.descriptor(descriptor))
    }
}
