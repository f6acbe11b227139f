// SPDX-License-Identifier: Apache-2.0
import UserSearch

/// A list of equally long words with their sketches, as stored in a row of the table
/// `spelling_block`.
///
/// The encoding consists of: the number of words (4 bytes), the letters of each sketch (8 bytes
/// each), the end of each word (2 bytes each), and the words in UTF-8. Numbers are little-endian.
/// Damaged bytes decode as an empty list.
struct SpellingBlock {
    /// The size above which a block is split. With its row, a block fills one database page.
    static let maximumBytes = 3_900
    /// The largest number of words and of word bytes. A block whose words share one hash cannot be
    /// split.
    private static let (maximumWords, maximumWordBytes) = (1_000, 32_000)
    private static let headBytes = 4
    private static let bytesOfEntry = 10

    private(set) var letters: [UInt64] = []
    private(set) var ends: [UInt16] = []
    private(set) var bytes: [UInt8] = []

    init() {}

    init(_ block: UnsafeRawBufferPointer) {
        guard let count = Self.count(in: block) else { return }
        for index in 0..<count {
            letters.append(Self.letters(index, block))
            ends.append(Self.end(index, count, block))
        }
        bytes = Array(block[(Self.headBytes + count * Self.bytesOfEntry)...])
    }

    var count: Int { letters.count }
    /// `true` if a word may be added.
    var hasRoom: Bool { count < Self.maximumWords && bytes.count < Self.maximumWordBytes }
    /// The size of the encoded block, in bytes.
    var size: Int { Self.headBytes + count * Self.bytesOfEntry + bytes.count }

    func word(_ index: Int) -> ArraySlice<UInt8> { bytes[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])] }

    func contains(_ word: some Collection<UInt8>, letters wanted: UInt64) -> Bool {
        letters.indices.contains { letters[$0] == wanted && self.word($0).elementsEqual(word) }
    }

    mutating func append(_ word: some Collection<UInt8>, letters wanted: UInt64) {
        letters.append(wanted)
        bytes += word
        ends.append(UInt16(bytes.count))
    }

    var encoded: [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(size)
        func append(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.littleEndian) { encoded.append(contentsOf: $0) }
        }
        append(UInt32(count))
        for letters in letters { append(letters) }
        for end in ends { append(end) }
        return encoded + bytes
    }

    /// Calls `body` with the words of an encoded block whose sketches are near a given sketch.
    static func forEachWord(
        in block: UnsafeRawBufferPointer, near letters: UInt64, within edits: Int,
        _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        forEachWord(in: block, where: { SpellingSketch.mayBeWithin(edits, $0, letters) }, body)
    }

    /// Calls `body` with the words of an encoded block that contain some letters.
    static func forEachWord(
        in block: UnsafeRawBufferPointer, with letters: UInt64, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        forEachWord(in: block, where: { $0 & letters == letters }, body)
    }

    @inline(__always)
    private static func forEachWord(
        in block: UnsafeRawBufferPointer, where isWanted: (UInt64) -> Bool, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        guard let count = count(in: block) else { return }
        let words = UnsafeRawBufferPointer(rebasing: block[(headBytes + count * bytesOfEntry)...])
            .assumingMemoryBound(to: UInt8.self)
        for index in 0..<count where isWanted(Self.letters(index, block)) {
            let start = index == 0 ? 0 : Int(end(index - 1, count, block))
            body(UnsafeBufferPointer(rebasing: words[start..<Int(end(index, count, block))]))
        }
    }

    @inline(__always)
    private static func letters(_ index: Int, _ block: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(littleEndian: block.loadUnaligned(fromByteOffset: headBytes + index * 8, as: UInt64.self))
    }

    private static func end(_ index: Int, _ count: Int, _ block: UnsafeRawBufferPointer) -> UInt16 {
        UInt16(littleEndian: block.loadUnaligned(fromByteOffset: headBytes + count * 8 + index * 2, as: UInt16.self))
    }

    /// Returns the number of words of an encoded block; `nil` if the block is damaged.
    private static func count(in block: UnsafeRawBufferPointer) -> Int? {
        guard block.count > headBytes else { return nil }
        let count = Int(UInt32(littleEndian: block.loadUnaligned(as: UInt32.self)))
        guard (1...maximumWords).contains(count), headBytes + count * bytesOfEntry <= block.count else { return nil }
        let size = block.count - headBytes - count * bytesOfEntry
        var last = 0
        for index in 0..<count {
            let end = Int(end(index, count, block))
            guard end > last else { return nil }
            last = end
        }
        return last == size ? count : nil
    }
}
