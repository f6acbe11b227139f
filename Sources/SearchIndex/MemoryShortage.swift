// SPDX-License-Identifier: Apache-2.0
import GRDB
import Glibc

/// Distinguishes a damaged length in a file from a shortage of memory.
///
/// SQLite and FTS5 allocate as much memory as a length in the file states. SQLite reports “out of
/// memory” in both cases.
enum MemoryShortage {
    /// More than SQLite asks for at once while it works on an intact file, in bytes.
    private static let largestRequest = 256 << 20

    /// The fault of the file, for messages.
    static let fault = "a length in it is impossible"

    /// Returns `true` if an error reports a lack of memory and this process can have enough.
    ///
    /// - Parameter hasMemory: Returns `true` if this process can have a number of bytes.
    static func isDamage(_ error: DatabaseError, hasMemory: (Int) -> Bool = hasMemory) -> Bool {
        error.extendedResultCode == .SQLITE_NOMEM && hasMemory(largestRequest)
    }

    /// Returns `true` if this process can have a number of bytes. They are not touched.
    static func hasMemory(_ bytes: Int) -> Bool {
        let address = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let address, address != MAP_FAILED else { return false }
        munmap(address, bytes)
        return true
    }
}

extension DatabaseError {
    /// `true` if SQLite finds the file damaged while it reads a table.
    var isOfDamagedTable: Bool { resultCode == .SQLITE_CORRUPT || MemoryShortage.isDamage(self) }
}
