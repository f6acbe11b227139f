// SPDX-License-Identifier: Apache-2.0

extension ItemRecord {
    /// The attribute of an item whose text is only partly indexed. It is
    /// `SEARCHLIGHT_MISSING_TEXT_BYTES` of `searchlight_extension.h`.
    public static let missingTextAttribute = "com_searchlight_missingTextBytes"

    /// The number of bytes of text that the donor left out; 0 if the whole text is indexed.
    public var missingTextBytes: Int64 {
        switch attributes[Self.missingTextAttribute] {
        case .integer(let bytes): max(0, bytes)
        case .double(let bytes): max(0, Int64(exactly: bytes.rounded()) ?? 0)
        default: 0
        }
    }
}
