// SPDX-License-Identifier: Apache-2.0
package import CSystem

/// The headers of a 64-bit ELF file in this machine's byte order (System V ABI, `elf.h`). The file
/// is untrusted: it is read in pieces within fixed bounds, and never loaded.
package struct ELFFile {
    /// The maximum number of table entries to read. Libraries have about ten segments and forty
    /// sections.
    private static let maximumEntries = 256
    /// The upper bound for positions in a file, in bytes.
    private static let maximumPosition = 1 << 40

    /// The header at the beginning of the file.
    package let header: Elf64_Ehdr
    private let read: (_ position: Int, _ count: Int) -> [UInt8]?

    /// Reads the header of a file.
    ///
    /// - Parameter read: Returns exactly `count` bytes from a position, or `nil` if the file has
    ///   fewer.
    /// - Returns: `nil` if the file does not start like such an ELF file.
    package init?(read: @escaping (_ position: Int, _ count: Int) -> [UInt8]?) {
        guard let start = read(0, MemoryLayout<Elf64_Ehdr>.size), start.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2]),
            start[5] == (1.littleEndian == 1 ? 1 : 2)
        else { return nil }
        header = start.withUnsafeBytes { $0.loadUnaligned(as: Elf64_Ehdr.self) }
        self.read = read
    }

    /// Returns bytes of the file.
    ///
    /// - Returns: `nil` if the file has fewer bytes, or if a position exceeds the upper bound.
    package func bytes(at position: UInt64, count: UInt64, atMost limit: Int = .max) -> [UInt8]? {
        guard position < Self.maximumPosition, count < Self.maximumPosition else { return nil }
        return read(Int(position), min(Int(count), limit))
    }

    /// Returns the entries of a table; an empty array if the table is too long or its entry size
    /// differs from the ABI.
    private func table<Entry: BitwiseCopyable>(
        at position: UInt64, count: UInt16, size: UInt16, of _: Entry.Type
    ) -> [Entry] {
        guard size == MemoryLayout<Entry>.size, count <= Self.maximumEntries,
            let bytes = bytes(at: position, count: UInt64(count) * UInt64(size))
        else { return [] }
        return Self.entries(bytes)
    }

    /// Returns the entries in a byte array. An incomplete last entry is omitted.
    package static func entries<Entry: BitwiseCopyable>(_ bytes: [UInt8], of _: Entry.Type = Entry.self) -> [Entry] {
        bytes.withUnsafeBytes { bytes in
            stride(from: 0, through: bytes.count - MemoryLayout<Entry>.size, by: MemoryLayout<Entry>.size).map {
                bytes.loadUnaligned(fromByteOffset: $0, as: Entry.self)
            }
        }
    }

    /// The program headers.
    package var segments: [Elf64_Phdr] {
        table(at: header.e_phoff, count: header.e_phnum, size: header.e_phentsize, of: Elf64_Phdr.self)
    }

    package var sections: [Elf64_Shdr] {
        table(at: header.e_shoff, count: header.e_shnum, size: header.e_shentsize, of: Elf64_Shdr.self)
    }
}
