// SPDX-License-Identifier: Apache-2.0

/// The metadata of a regular file, which reveals changes. Read without opening the file. Times are
/// nanoseconds since 1970.
package struct FileState: Hashable, Sendable {
    /// A number for the file system (``FileSystemPlace/number``). A symbolic link may lead to a
    /// file system other than its folder's.
    package var fileSystem: Int64
    /// The inode number; 0 if the inode numbers of the file system are not persistent.
    package var inode: UInt64
    /// The creation time; 0 if the file system does not report it.
    package var born: Int64
    /// The size in bytes.
    package var size: Int64
    /// The time of the last change to the content.
    package var modified: Int64
    /// The time of the last change to content, name or permissions (ctime). It is 0 if the file
    /// changed so recently that another change may get the same time; the file then differs at the
    /// next comparison.
    package var changed: Int64

    /// Returns `true` if both are states of the same file, possibly under two names.
    ///
    /// Inode numbers are reused after a deletion, so the creation times must match. If they are not
    /// available, size and modification time must match.
    func isOfSameFile(as other: FileState) -> Bool {
        guard inode != 0, inode == other.inode, fileSystem == other.fileSystem, born == other.born else { return false }
        return born != 0 || (size == other.size && modified == other.modified)
    }

    /// Returns a digest of the file and a name. A folder's digest is the sum of its files' digests.
    func digest(_ name: EntryName) -> Int64 {
        var digest = StableDigest()
        digest.add(name.text)
        digest.add(UInt64(bitPattern: fileSystem))
        digest.add(inode)
        for time in [born, size, modified, changed] { digest.add(UInt64(bitPattern: time)) }
        return digest.value
    }
}

/// A 64-bit digest that is the same in every process. It is not resistant to deliberate collisions.
struct StableDigest {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func add(_ word: UInt64) {
        // One round of SplitMix64.
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
