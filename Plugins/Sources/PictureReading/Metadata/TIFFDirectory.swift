// SPDX-License-Identifier: Apache-2.0

/// A directory in a TIFF structure: in an EXIF block, a TIFF file or a raw file (TIFF 6.0, section
/// 2). Reads values on demand.
struct TIFFDirectory {
    private struct Entry {
        var type: Int
        var count: Int
        /// The position of the value.
        var offset: Int
    }

    private static let maximumEntries = 512
    /// The maximum size of a value, in bytes.
    private static let maximumValue = 1 << 20
    private static let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 13: 4]

    private let file: TIFFFile
    private let entries: [Int: Entry]
    /// The position of the next directory; 0 for none.
    let next: Int

    fileprivate init?(_ file: TIFFFile, at offset: Int) {
        self.file = file
        guard offset >= 8, let count = file.number(at: offset, bytes: 2), count > 0 else { return nil }
        let size = 12 * min(count, Self.maximumEntries)
        let bytes = file.source.read(at: offset + 2, count: size + 4)
        var entries: [Int: Entry] = [:]
        let isLittle = file.isLittleEndian
        for start in stride(from: 0, through: min(size, bytes.count) - 12, by: 12) {
            guard let tag = bytes.number(at: start, bytes: 2, isLittleEndian: isLittle),
                let type = bytes.number(at: start + 2, bytes: 2, isLittleEndian: isLittle),
                let count = bytes.number(at: start + 4, bytes: 4, isLittleEndian: isLittle),
                let unit = Self.sizes[type], count > 0, entries[tag] == nil
            else { continue }
            let isInline = unit * count <= 4
            guard
                let position = isInline
                    ? offset + 2 + start + 8
                    : bytes.number(at: start + 8, bytes: 4, isLittleEndian: isLittle)
            else { continue }
            entries[tag] = Entry(type: type, count: count, offset: position)
        }
        self.entries = entries
        next = count <= Self.maximumEntries ? bytes.number(at: size, bytes: 4, isLittleEndian: isLittle) ?? 0 : 0
    }

    /// Returns the bytes of a value of any type, up to a limit.
    func bytes(_ tag: Int, limit: Int = Self.maximumValue) -> [UInt8]? {
        guard let entry = entries[tag], let unit = Self.sizes[entry.type] else { return nil }
        let bytes = file.source.read(at: entry.offset, count: min(entry.count, limit / unit) * unit)
        return bytes.isEmpty ? nil : bytes
    }

    /// Returns at most 64 numbers of a value; numbers that are not finite are left out.
    func numbers(_ tag: Int) -> [Double] {
        guard let entry = entries[tag], let unit = Self.sizes[entry.type], let bytes = bytes(tag, limit: 64 * unit)
        else {
            return []
        }
        func number(_ offset: Int, _ size: Int, isSigned: Bool) -> Double? {
            guard let value = bytes.number(at: offset, bytes: size, isLittleEndian: file.isLittleEndian) else {
                return nil
            }
            let limit = 1 << (8 * size - 1)
            return Double(isSigned && value >= limit ? value - 2 * limit : value)
        }
        return stride(from: 0, to: bytes.count, by: unit).compactMap { offset in
            switch entry.type {
            case 5, 10:
                guard let numerator = number(offset, 4, isSigned: entry.type == 10),
                    let denominator = number(offset + 4, 4, isSigned: entry.type == 10), denominator != 0
                else { return nil }
                return numerator / denominator
            case 2, 7: return nil
            default: return number(offset, unit, isSigned: [6, 8, 9].contains(entry.type))
            }
        }
    }

    func number(_ tag: Int) -> Double? { numbers(tag).first }

    func integer(_ tag: Int) -> Int? {
        number(tag).flatMap { $0 >= 0 && $0 <= Double(UInt32.max) ? Int($0) : nil }
    }

    /// Returns a text without leading and trailing white space; nil if it is empty.
    func text(_ tag: Int) -> String? {
        guard let bytes = bytes(tag, limit: 64 << 10) else { return nil }
        return MetadataText.text(bytes.prefix { $0 != 0 })
    }

    /// Returns the directory at the position given by a value.
    func directory(_ tag: Int, index: Int = 0) -> TIFFDirectory? {
        let offsets = numbers(tag)
        guard offsets.indices.contains(index) else { return nil }
        return file.directory(at: Int(offsets[index]))
    }

    /// Returns the directories at the positions given by a value.
    func directories(_ tag: Int) -> [TIFFDirectory] {
        numbers(tag).prefix(16).compactMap { file.directory(at: Int($0)) }
    }

    /// Returns the part of the file whose position and length two values give.
    func part(offset: Int, length: Int) -> PictureSource? {
        guard let offset = integer(offset), let length = integer(length) else { return nil }
        return file.source.part(at: offset, count: length)
    }
}

/// A TIFF structure. Directories may refer to each other in any order, including cycles.
struct TIFFFile {
    /// The maximum number of directories in the main chain.
    private static let maximumDirectories = 16

    let source: PictureSource
    let isLittleEndian: Bool
    /// The position of the first directory.
    private let first: Int

    init?(_ source: PictureSource) {
        self.source = source
        let head = source.read(at: 0, count: 8)
        switch head.prefix(2) {
        case [0x49, 0x49]: isLittleEndian = true
        case [0x4D, 0x4D]: isLittleEndian = false
        default: return nil
        }
        // 42, or the numbers that Olympus and Panasonic use.
        guard let magic = head.number(at: 2, bytes: 2, isLittleEndian: isLittleEndian),
            [42, 0x4F52, 0x5352, 0x55].contains(magic),
            let first = head.number(at: 4, bytes: 4, isLittleEndian: isLittleEndian)
        else { return nil }
        self.first = first
    }

    /// The directories in the main chain, each once.
    var directories: [TIFFDirectory] {
        var (found, visited, position) = ([TIFFDirectory](), Set<Int>(), first)
        while found.count < Self.maximumDirectories, position > 0, visited.insert(position).inserted,
            let directory = directory(at: position)
        {
            found.append(directory)
            position = directory.next
        }
        return found
    }

    func directory(at offset: Int) -> TIFFDirectory? { TIFFDirectory(self, at: offset) }

    fileprivate func number(at offset: Int, bytes: Int) -> Int? {
        source.read(at: offset, count: bytes).number(at: 0, bytes: bytes, isLittleEndian: isLittleEndian)
    }
}
