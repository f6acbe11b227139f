// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import SystemSupport

/// A path with its links resolved, within bounds, because the author of the links controls how many
/// there are to follow.
///
/// A name that does not exist yet is treated as a name that is not a link. Names are compared as
/// bytes: Swift treats two Unicode spellings of a letter as equal, but a file system does not.
package struct FollowedPath: Hashable, Sendable {
    /// The absolute path without links, `.`, `..` and doubled slashes.
    package let path: String
    /// The paths of the links that were followed, in order. They have the form of ``path``.
    package let links: [String]
    package let isThere: Bool

    /// An error while a path is resolved.
    package enum Failure: Error, Hashable {
        /// The path has more links than ``FollowedPath/maximumLinks``, or a cycle. The kernel gives
        /// up too.
        case links
        /// The path has more names than the caller's budget.
        case names
        /// The path is relative, longer than `PATH_MAX`, or not text.
        case form
    }

    /// The maximum number of links in one path, the same as in the kernel.
    package static let maximumLinks = 40
    /// The maximum number of names in one path, including the names in its links. Resolving a name
    /// takes about a microsecond.
    package static let maximumNames = 4096

    /// Resolves a path.
    ///
    /// - Parameter left: The number of names that may still be resolved. Reduced by the resolved
    ///   names.
    package static func follow(_ path: String, left: inout Int) throws(Failure) -> FollowedPath {
        let bytes = Array(path.utf8)
        guard bytes.first == slash, bytes.count < Int(PATH_MAX), !bytes.contains(0) else { throw .form }
        if let count = plainNames(bytes) {
            left -= count + 1
            guard left >= 0 else { throw .names }
            let found = csandbox_open_exactly(path, 0)
            if found >= 0 { close(found) }
            // Without ELOOP, none of the names up to the end, or up to the first missing name, is a
            // link.
            if found != -ELOOP { return FollowedPath(path: path, links: [], isThere: found >= 0) }
        }
        let names = names(of: bytes)
        return try walk(names, left: &left)
    }

    /// Returns the number of names; `nil` if the path contains `.`, `..` or a doubled slash, or
    /// ends with a slash.
    private static func plainNames(_ bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var (count, length, isDots) = (0, 1, false)
            for byte in bytes {
                if byte == slash {
                    if length == 0 || isDots { return nil }
                    (count, length, isDots) = (count + 1, 0, false)
                } else {
                    length += 1
                    isDots = byte == UInt8(ascii: ".") && length <= 2 && (length == 1 || isDots)
                }
            }
            return length == 0 || isDots ? nil : count
        }
    }

    package init(_ path: String) throws(Failure) {
        var left = Self.maximumNames
        self = try Self.follow(path, left: &left)
    }

    private init(path: String, links: [String], isThere: Bool) {
        (self.path, self.links, self.isThere) = (path, links, isThere)
    }

    private static let slash = UInt8(ascii: "/")
    private static let up = [UInt8(ascii: "."), UInt8(ascii: ".")]

    /// Returns the names of a path, without `.`.
    private static func names(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.split(separator: slash).filter { $0.count != 1 || $0.first != UInt8(ascii: ".") }
    }

    private static func joined(_ names: [ArraySlice<UInt8>]) throws(Failure) -> String {
        let bytes = names.isEmpty ? [slash] : Array(names.map { [slash] + $0 }.joined())
        guard bytes.count < Int(PATH_MAX), let text = String(validating: bytes, as: UTF8.self) else { throw .form }
        return text
    }

    private static func walk(_ names: [ArraySlice<UInt8>], left: inout Int) throws(Failure) -> FollowedPath {
        var next = Array(names.reversed())
        var real: [ArraySlice<UInt8>] = []
        // The number of trailing names that do not exist.
        var missing = 0
        var links: [String] = []
        var folder = try root()
        while let name = next.popLast() {
            left -= 1
            guard left >= 0 else { throw .names }
            if missing > 0 || name.elementsEqual(up) {
                if !name.elementsEqual(up) {
                    real.append(name)
                    missing += 1
                } else if missing > 0 {
                    real.removeLast()
                    missing -= 1
                } else if real.popLast() != nil {
                    guard let above = open(up[...], in: folder) else { throw .form }
                    folder = above
                }
                continue
            }
            real.append(name)
            guard let found = open(name, in: folder) else {
                missing = 1
                continue
            }
            guard let target = target(of: found) else {
                folder = found
                continue
            }
            guard links.count < maximumLinks else { throw .links }
            links.append(try joined(real))
            real.removeLast()
            if target.first == slash { (folder, real) = (try root(), []) }
            next += Self.names(of: target).reversed()
        }
        return FollowedPath(path: try joined(real), links: links, isThere: missing == 0)
    }

    private static func root() throws(Failure) -> OwnedDescriptor {
        let number = Glibc.open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .form }
        return OwnedDescriptor(adopting: number)
    }

    private static func open(_ name: ArraySlice<UInt8>, in folder: OwnedDescriptor) -> OwnedDescriptor? {
        let text = name.map { CChar(bitPattern: $0) } + [0]
        let number = openat(folder.number, text, O_PATH | O_NOFOLLOW | O_CLOEXEC)
        return number >= 0 ? OwnedDescriptor(adopting: number) : nil
    }

    /// Returns the target of a link; `nil` for any other file.
    private static func target(of file: OwnedDescriptor) -> [UInt8]? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlinkat(file.number, "", start, buffer.count)
            return count > 0 ? buffer[..<count].map { UInt8(bitPattern: $0) } : nil
        }
    }

    /// The value from the kernel headers, which Swift does not import.
    private static let O_PATH: Int32 = 0o10000000
}

/// The resolved paths for one policy. Each path is resolved once, and all share one budget.
final class FollowedPaths {
    private var known: [[UInt8]: Result<FollowedPath, FollowedPath.Failure>] = [:]
    private var left: Int

    /// The maximum number of names for one policy, which take a fraction of a second.
    static let maximumNames = 1 << 17

    /// Creates an empty set.
    ///
    /// - Parameter names: The maximum number of names that the set resolves.
    init(names: Int = maximumNames) { left = names }

    func follow(_ path: String) throws(FollowedPath.Failure) -> FollowedPath {
        let key = Array(path.utf8)
        if let found = known[key] { return try found.get() }
        var own = min(left, FollowedPath.maximumNames)
        let before = own
        let found = Result { () throws(FollowedPath.Failure) in try FollowedPath.follow(path, left: &own) }
        left -= min(left, before - own)
        known[key] = found
        return try found.get()
    }

    /// Returns the path without links; `nil` if it cannot be resolved.
    func real(_ path: String) -> String? { try? follow(path).path }

    /// Returns the path without links; `nil` if it cannot be resolved or does not exist.
    func existing(_ path: String) -> String? {
        guard let found = try? follow(path), found.isThere else { return nil }
        return found.path
    }
}
