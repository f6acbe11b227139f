// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings
import JSONText

/// The position between two pages of a reindex.
package struct ReindexCursor: Equatable {
    /// The file that is being read.
    package var file: String
    /// The index of the kind of item.
    package var item = 0
    /// The key of the last donated row; `nil` at the start of a kind.
    package var key: RowKey?
    /// The digests of the file's rows so far.
    package var digests: RowDigests
    /// The first failure for a file, which the reindex ends with.
    package var failure: String?

    /// The maximum length of the failure's text, in bytes.
    static let failureBytes = 500

    package var bytes: [UInt8] {
        var fields: [JSONValue.Field] = [
            .init(key: "file", value: .text(file)), .init(key: "item", value: .integer(Int64(item))),
            .init(key: "rows", value: .text(digests.bytes.map(Self.digits).joined())),
        ]
        switch key {
        case .integer(let number): fields.append(.init(key: "key", value: .integer(number)))
        case .text(let text): fields.append(.init(key: "key", value: .text(text)))
        case nil: break
        }
        if let failure { fields.append(.init(key: "failure", value: .text(failure))) }
        return Array(JSONValue.object(fields).json.utf8)
    }

    private static func digits(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    package init(file: String, digests: RowDigests) { (self.file, self.digests) = (file, digests) }

    /// Decodes a cursor; `nil` if the bytes have a different format.
    package init?(_ bytes: [UInt8], of binding: DatabaseBinding) {
        guard let fields = (try? JSONValue(reading: bytes[...], maximumDepth: 2))?.members,
            case .text(let file)? = fields["file"], case .integer(let item)? = fields["item"],
            (0...DatabaseLimits.items).contains(Int(item)), case .text(let rows)? = fields["rows"]
        else { return nil }
        let digits = Array(rows.utf8)
        let state = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
        }
        guard let digests = RowDigests(state, of: binding) else { return nil }
        self.init(file: file, digests: digests)
        self.item = Int(item)
        switch fields["key"] {
        case .integer(let number)?: key = .integer(number)
        case .text(let text)?: key = .text(text)
        default: break
        }
        if case .text(let text)? = fields["failure"] { failure = text }
    }
}
