// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How the values of calls become bytes and back. Binary property lists are as quick, and are not taken from others: they
/// can name one object many times, and a few bytes unfold into gigabytes.
enum CallCoding {
    /// The largest request, in bytes, without the payload that follows it.
    static let maximumRequestBytes = 33 << 20
    /// The largest answer, likewise.
    static let maximumAnswerBytes = 32 << 20
    /// The largest payload that follows a request: what the journal takes at once.
    static let maximumPayloadBytes = 64 << 20

    private static let infinity = "inf"
    private static let negativeInfinity = "-inf"
    private static let notANumber = "nan"

    static func encode(_ value: some Encodable) throws(CallCodingError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: notANumber)
        do { return Array(try encoder.encode(value)) } catch { throw CallCodingError(error) }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws(CallCodingError) -> Value {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: notANumber)
        do { return try decoder.decode(type, from: Data(bytes)) } catch { throw CallCodingError(error) }
    }
}

/// Why a value cannot be encoded or decoded.
struct CallCodingError: Error {
    /// What and where, without a full stop.
    let reason: String

    private static let maximumCharacters = 500

    init(_ error: any Error) {
        let context: (path: [any CodingKey], text: String) =
            switch error {
            case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
                DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
                (context.codingPath, context.debugDescription)
            case EncodingError.invalidValue(_, let context): (context.codingPath, context.debugDescription)
            default: ([], "\(error)")
            }
        let path = context.path.map(\.stringValue).joined(separator: ".")
        let text = (path.isEmpty ? "" : path + ": ") + context.text
        reason = withoutFullStop(String(text.prefix(Self.maximumCharacters)))
    }
}
