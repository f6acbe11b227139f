// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The event flags of inotify(7).
struct EventMask: OptionSet, Hashable {
    let rawValue: UInt32

    static let created = EventMask(rawValue: UInt32(IN_CREATE))
    static let modified = EventMask(rawValue: UInt32(IN_MODIFY))
    static let closedAfterWriting = EventMask(rawValue: UInt32(IN_CLOSE_WRITE))
    static let attributes = EventMask(rawValue: UInt32(IN_ATTRIB))
    static let moved = EventMask(rawValue: UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO))
    static let deleted = EventMask(rawValue: UInt32(IN_DELETE))
    /// The watched folder itself was deleted or moved.
    static let folderGone = EventMask(rawValue: UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF))

    /// The file system of the watched folder was unmounted.
    static let unmounted = EventMask(rawValue: UInt32(IN_UNMOUNT))
    static let isFolder = EventMask(rawValue: UInt32(IN_ISDIR))
    static let eventsLost = EventMask(rawValue: UInt32(IN_Q_OVERFLOW))
    static let watchEnded = EventMask(rawValue: UInt32(IN_IGNORED))

    static let foldersOnly = EventMask(rawValue: UInt32(IN_ONLYDIR))
    static let noLinks = EventMask(rawValue: UInt32(IN_DONT_FOLLOW))
    static let noUnlinked = EventMask(rawValue: UInt32(IN_EXCL_UNLINK))
    static let added = EventMask(rawValue: UInt32(IN_MASK_ADD))
}

/// An event of inotify(7).
struct InotifyEvent: Hashable {
    /// The number of the watch; -1 if events were lost.
    var watch: Int32
    var mask: EventMask
    /// The name in the watched folder; empty for the folder itself. `nil` if it is not UTF-8.
    var name: EntryName?
    /// A number that links the two events of a move; 0 for other events.
    var cookie: UInt32 = 0

    private static let headerBytes = 16

    /// Decodes events as written by the kernel. Skips an incomplete event at the end.
    static func read(_ bytes: UnsafeRawBufferPointer) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        var offset = 0
        while bytes.count - offset >= headerBytes {
            let watch = bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)
            let mask = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            let cookie = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self)
            let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            guard bytes.count - offset - headerBytes >= length else { break }
            let name = bytes[offset + headerBytes..<offset + headerBytes + length].prefix { $0 != 0 }
            events.append(
                InotifyEvent(
                    watch: watch, mask: EventMask(rawValue: mask),
                    name: String(validating: name, as: UTF8.self).map { EntryName($0) }, cookie: cookie))
            offset += headerBytes + length
        }
        return events
    }

    /// Returns `true` if the event has any of the flags.
    func has(_ flags: EventMask) -> Bool { !mask.isDisjoint(with: flags) }
}
