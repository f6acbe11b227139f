// SPDX-License-Identifier: Apache-2.0
import ItemRecord

extension StoredItem: Codable {
    private enum CodingKeys: CodingKey { case number, scope, record, donated, expires }

    /// Decodes an item whose record has the ItemRecord binary format.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        number = try values.decode(Int64.self, forKey: .number)
        scope = try values.decode(IndexScope.self, forKey: .scope)
        donated = try values.decode(Double.self, forKey: .donated)
        expires = try values.decodeIfPresent(Double.self, forKey: .expires)
        let bytes = try values.decode([UInt8].self, forKey: .record)
        do {
            record = try ItemRecord(decoding: bytes)
        } catch {
            throw DecodingError.dataCorruptedError(forKey: .record, in: values, debugDescription: error.description)
        }
    }

    /// Encodes the item.
    ///
    /// - Throws: `EncodingError` if a record exceeds a limit, and the errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(number, forKey: .number)
        try values.encode(scope, forKey: .scope)
        try values.encode(donated, forKey: .donated)
        try values.encodeIfPresent(expires, forKey: .expires)
        let bytes: [UInt8]
        do throws(ItemRecordError) {
            bytes = try record.encoded()
        } catch {
            throw EncodingError.invalidValue(
                record, .init(codingPath: values.codingPath, debugDescription: error.description))
        }
        try values.encode(bytes, forKey: .record)
    }
}
