// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// What the dynamic linker would look for on behalf of a shared library, and who compiled it: read from the file, which is
/// hostile, and never loaded. ELF of 64 bits in this machine's byte order (System V ABI), which the host has checked.
struct SharedLibraryFile: Hashable {
    /// The names of the libraries it needs.
    var needed: [String]
    /// The folders in which it looks for them first, `$ORIGIN` replaced.
    var folders: [String]
    /// Swift's compiler, as the file tells it; `nil` if none had a part in it.
    var compiler: String?

    private static let maximumHeaders = 256
    private static let maximumEntries = 4096
    private static let maximumNames = 1 << 20
    private static let maximumComment = 64 << 10
    private enum Tag {
        static let end = 0
        static let needed = 1
        static let names = 5
        static let namesSize = 10
        static let rpath = 15
        static let runpath = 29
    }

    /// Reads a library; `nil` for what cannot be understood.
    init?(at path: String) {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = Reader(file: OwnedDescriptor(adopting: number))
        guard let head = file.bytes(at: 0, count: 64), head.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2]) else {
            return nil
        }
        let segments = file.table(
            at: head.number(32, 8), count: head.number(56, 2), size: head.number(54, 2), least: 56)
        guard let dynamic = segments.first(where: { $0.number(0, 4) == 2 }) else { return nil }
        guard
            let entries = file.bytes(
                at: dynamic.number(8, 8), count: min(dynamic.number(32, 8), Self.maximumEntries * 16))
        else { return nil }
        var values: [(tag: Int, value: Int)] = []
        for start in stride(from: 0, to: entries.count - 15, by: 16) {
            let tag = entries.number(start, 8)
            if tag == Tag.end { break }
            values.append((tag, entries.number(start + 8, 8)))
        }
        guard let address = values.first(where: { $0.tag == Tag.names })?.value,
            let size = values.first(where: { $0.tag == Tag.namesSize })?.value,
            let load = segments.first(where: {
                $0.number(0, 4) == 1 && address >= $0.number(16, 8) && address - $0.number(16, 8) < $0.number(32, 8)
            }),
            let names = file.bytes(
                at: load.number(8, 8) + (address - load.number(16, 8)), count: min(size, Self.maximumNames))
        else { return nil }
        let origin = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        needed = values.filter { $0.tag == Tag.needed }.compactMap { names.text($0.value) }
        folders = values.filter { $0.tag == Tag.runpath || $0.tag == Tag.rpath }.compactMap { names.text($0.value) }
            .flatMap { $0.split(separator: ":") }
            .map { String($0).replacing("${ORIGIN}", with: origin).replacing("$ORIGIN", with: origin) }
        compiler = Self.compiler(file, head)
    }

    /// What the section `.comment` says of the clang that is part of Swift's compiler.
    private static func compiler(_ file: Reader, _ head: [UInt8]) -> String? {
        let sections = file.table(
            at: head.number(40, 8), count: head.number(60, 2), size: head.number(58, 2), least: 64)
        let place = head.number(62, 2)
        guard sections.indices.contains(place),
            let names = file.bytes(
                at: sections[place].number(24, 8), count: min(sections[place].number(32, 8), maximumNames)),
            let comment = sections.first(where: { names.text($0.number(0, 4)) == ".comment" }),
            let text = file.bytes(at: comment.number(24, 8), count: min(comment.number(32, 8), maximumComment))
        else { return nil }
        return text.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            .first { $0.contains("swiftlang") }.map { String($0.prefix(200)) }
    }

    /// Reads pieces of a file.
    private struct Reader {
        let file: OwnedDescriptor

        /// Exactly so many bytes.
        func bytes(at offset: Int, count: Int) -> [UInt8]? {
            guard offset >= 0, count >= 0, offset < 1 << 40,
                let bytes = SmallFile.bytes(of: file, at: offset, count: count), bytes.count == count
            else { return nil }
            return bytes
        }

        /// The entries of a table, each of so many bytes.
        func table(at offset: Int, count: Int, size: Int, least: Int) -> [[UInt8]] {
            guard size >= least, size <= 4096, count <= maximumHeaders, let all = bytes(at: offset, count: count * size)
            else { return [] }
            return (0..<count).map { Array(all[$0 * size..<($0 + 1) * size]) }
        }
    }
}

extension [UInt8] {
    /// A number in this machine's order of bytes; beyond the end, or larger than any file, -1.
    fileprivate func number(_ offset: Int, _ count: Int) -> Int {
        guard offset >= 0, offset + count <= self.count else { return -1 }
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(self[offset + index]) << (8 * UInt64(index)) }
        return value < 1 << 40 ? Int(value) : -1
    }

    /// The text up to a zero.
    fileprivate func text(_ offset: Int) -> String? {
        guard indices.contains(offset) else { return nil }
        return String(decoding: self[offset...].prefix { $0 != 0 }, as: UTF8.self)
    }
}
