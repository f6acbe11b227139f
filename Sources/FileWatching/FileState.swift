// SPDX-License-Identifier: Apache-2.0

/// The state of a regular file that tells whether it was changed, read without opening it. Times are nanoseconds since 1970.
package struct FileState: Hashable, Sendable {
    /// A number of the file system (``FileSystemPlace/number``). A link may lead to another one than that of its folder.
    package var fileSystem: Int64
    /// The number of the file in its file system; 0 where that does not keep numbers.
    package var inode: UInt64
    /// When it was created; 0 where the file system does not say.
    package var born: Int64
    /// Bytes.
    package var size: Int64
    /// When its content was changed.
    package var modified: Int64
    /// When its content, name or rights were changed; 0 if that was so shortly before the look that another change may have
    /// the same time. The file then differs at the next look.
    package var changed: Int64

    /// Whether both are states of one file, perhaps under another name. Numbers of deleted files are used again, so the time of
    /// creation decides, and without it the content must be unchanged.
    func isOfSameFile(as other: FileState) -> Bool {
        guard inode != 0, inode == other.inode, fileSystem == other.fileSystem, born == other.born else { return false }
        return born != 0 || (size == other.size && modified == other.modified)
    }

    /// A number for the file under a name, added to those of others for the number of a folder.
    func digest(_ name: EntryName) -> Int64 {
        var digest = StableDigest()
        digest.add(name.text)
        digest.add(UInt64(bitPattern: fileSystem))
        digest.add(inode)
        for time in [born, size, modified, changed] { digest.add(UInt64(bitPattern: time)) }
        return digest.value
    }
}

/// A number of 64 bits for some values, the same in each process. Not against those who look for two values with one number.
struct StableDigest {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func add(_ word: UInt64) {
        // The steps of SplitMix64.
        state = (state ^ word) &+ 0x9E37_79B9_7F4A_7C15
        state = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        state = (state ^ state >> 27) &* 0x94D0_49BB_1331_11EB
        state ^= state >> 31
    }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            add(UInt64(bytes.count))
            let bytes = UnsafeRawBufferPointer(bytes)
            var place = 0
            while place + 8 <= bytes.count {
                add(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                place += 8
            }
            var rest: UInt64 = 0
            while place < bytes.count {
                rest = rest << 8 | UInt64(bytes[place])
                place += 1
            }
            add(rest)
        }
    }

    var value: Int64 { Int64(bitPattern: state) }
}
