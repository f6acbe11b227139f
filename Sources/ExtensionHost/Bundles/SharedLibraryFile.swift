// SPDX-License-Identifier: Apache-2.0
internal import CSystem
import Glibc
import SystemSupport

/// The dependencies and the compiler of a shared library. They are read from the file, which is
/// untrusted and is never loaded.
package struct SharedLibraryFile: Hashable {
    /// The names of the libraries that it needs.
    package var needed: [String]
    /// The folders that it adds to the library search path, with `$ORIGIN` replaced.
    package var folders: [String]
    /// The Swift compiler named in the file; `nil` if there is none.
    package var compiler: String?

    private static let maximumEntries = 4096
    private static let maximumNames = 1 << 20
    private static let maximumComment = 64 << 10

    /// Reads a library; `nil` if it is malformed.
    package init?(at path: String) {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let descriptor = OwnedDescriptor(adopting: number)
        let opened = ELFFile { position, count in
            guard let bytes = try? WholeTransfer.bytes(of: descriptor.number, upTo: count, at: position) else {
                return nil
            }
            return bytes.count == count ? bytes : nil
        }
        guard let file = opened else { return nil }
        let segments = file.segments
        guard let dynamic = segments.first(where: { $0.p_type == PT_DYNAMIC }),
            let bytes = file.bytes(at: dynamic.p_offset, count: dynamic.p_filesz, atMost: Self.maximumEntries * 16)
        else { return nil }
        let entries = ELFFile.entries(bytes, of: csystem_dynamic.self).prefix { $0.tag != DT_NULL }
        func values(_ tags: Int32...) -> [UInt64] {
            entries.filter { entry in tags.contains { $0 == entry.tag } }.map(\.value)
        }
        guard let address = values(DT_STRTAB).first, let size = values(DT_STRSZ).first,
            let load = segments.first(where: {
                $0.p_type == PT_LOAD && address >= $0.p_vaddr && address - $0.p_vaddr < $0.p_filesz
            }),
            case let (position, overflows) = load.p_offset.addingReportingOverflow(address - load.p_vaddr), !overflows,
            let names = file.bytes(at: position, count: size, atMost: Self.maximumNames)
        else { return nil }
        let origin = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        needed = values(DT_NEEDED).compactMap(names.text)
        folders = values(DT_RUNPATH, DT_RPATH).compactMap(names.text).flatMap { $0.split(separator: ":") }
            .map { String($0).replacing("${ORIGIN}", with: origin).replacing("$ORIGIN", with: origin) }
        compiler = Self.compiler(file)
    }

    /// The entry in the section `.comment` for the clang that is part of the Swift compiler.
    private static func compiler(_ file: ELFFile) -> String? {
        let sections = file.sections
        let place = Int(file.header.e_shstrndx)
        guard sections.indices.contains(place),
            let names = file.bytes(
                at: sections[place].sh_offset, count: sections[place].sh_size, atMost: maximumNames),
            let comment = sections.first(where: { names.text(UInt64($0.sh_name)) == ".comment" }),
            let text = file.bytes(at: comment.sh_offset, count: comment.sh_size, atMost: maximumComment)
        else { return nil }
        return text.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            .first { $0.contains("swiftlang") }.map { String($0.prefix(200)) }
    }
}

extension [UInt8] {
    /// The zero-terminated text at an offset.
    fileprivate func text(_ offset: UInt64) -> String? {
        guard let start = Int(exactly: offset), indices.contains(start) else { return nil }
        return String(decoding: self[start...].prefix { $0 != 0 }, as: UTF8.self)
    }
}
