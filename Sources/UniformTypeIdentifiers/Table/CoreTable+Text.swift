// SPDX-License-Identifier: Apache-2.0
private import CTables

extension CoreTable {
    /// The fields of a record, in order.
    enum Field: Int {
        case identifier, parents, filenameExtensions, mimeTypes, furtherTags, localizedDescription
        static let count = 6
    }

    /// The origin of a declaration; smaller is preferred (docs/UNIFORM-TYPES.md).
    enum Origin: UInt8, Sendable {
        case coreExported = 0
        case coreImported = 1
        case elsewhere = 2
    }

    /// The types of one origin as text, one type per line. `Scripts/generate-uniform-types` writes
    /// the files.
    ///
    /// The fields are identifier, parents, extensions, MIME types, further tags with recorded
    /// preferences, and description. Fields are separated by `|`, and items within a field by `,`.
    struct Section: Sendable {
        let origin: Origin

        /// The text without the last line feed. It is valid for the lifetime of the process.
        var bytes: UnsafeBufferPointer<UInt8> {
            let text =
                switch origin {
                case .coreExported: ctables_exported_types()
                case .coreImported: ctables_imported_types()
                case .elsewhere: ctables_other_types()
                }
            return UnsafeBufferPointer(start: text.start, count: text.count - 1)
        }
    }

    /// The records of all sections, and the positions of their fields.
    struct Text: Sendable {
        let sections: [Section]
        /// The section of each type.
        let origins: [Origin]
        /// The start of each field within its section: `Field.count` entries per type, plus one at
        /// the end of each section.
        let fieldStarts: [UInt32]

        init(_ sections: [Section]) {
            precondition(
                sections.indices.allSatisfy { Int(sections[$0].origin.rawValue) == $0 },
                "the sections of the type table are not in the order of their origins")
            self.sections = sections
            var origins: [Origin] = []
            fieldStarts = sections.flatMap { section in
                let count = section.bytes.count { $0 == UInt8(ascii: "\n") } + 1
                origins += [Origin](repeating: section.origin, count: count)
                return Text.split(section.bytes, records: count)
            }
            self.origins = origins
        }

        var count: Int { origins.count }

        /// Returns the bytes of the section that contains a type.
        func section(of type: Int) -> UnsafeBufferPointer<UInt8> { sections[Int(origins[type].rawValue)].bytes }

        /// Returns a field without its separator. The bytes are valid for the lifetime of the
        /// process.
        func field(_ type: Int, _ field: Field) -> UnsafeBufferPointer<UInt8> {
            // Each preceding section has one more entry than it has fields.
            let position = type * Field.count + Int(origins[type].rawValue) + field.rawValue
            return UnsafeBufferPointer(
                rebasing: section(of: type)[Int(fieldStarts[position])..<Int(fieldStarts[position + 1]) - 1])
        }

        /// Returns the start of each field. Records end with a line feed, fields with `|`.
        private static func split(_ bytes: UnsafeBufferPointer<UInt8>, records: Int) -> [UInt32] {
            var starts: [UInt32] = [0]
            starts.reserveCapacity(records * Field.count + 1)
            for position in 0..<bytes.count {
                let byte = bytes[position]
                if byte == UInt8(ascii: "|") || byte == UInt8(ascii: "\n") { starts.append(UInt32(position + 1)) }
            }
            // The last record ends with the text. Its separator would follow the last byte.
            starts.append(UInt32(bytes.count + 1))
            precondition(
                starts.count == records * Field.count + 1, "the fields of the type table do not match its records")
            return starts
        }
    }
}
