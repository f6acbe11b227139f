// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// The folders and symbolic links on the path to the root of a tree.
struct RootPath: Hashable {
    /// A folder or link on the path: its own path without links, with its device and inode number.
    struct Step: Hashable {
        var path: EntryName
        var device: UInt64
        var inode: UInt64
        var isLink: Bool
    }
    /// The steps, starting at `/`. The root of the tree is included only if it is a link.
    private(set) var steps: [Step] = []
    /// The path with links resolved, as far as it exists.
    private(set) var resolved = EntryName("")
    /// The name that was looked up last. `lastFolder` is the folder that contains it.
    private(set) var lastName = EntryName("")
    private(set) var lastFolder = EntryName("/")
    /// `true` if the path exists. `isFolder` is `true` if it leads to a folder.
    private(set) var exists = true
    private(set) var isFolder = true

    private static let maximumLinks = 40

    /// Follows a path.
    init(_ path: String) {
        var rest = Array(pathNames(path).reversed())
        var current: [String] = []
        var links = 0
        func joined(_ names: [String]) -> String { "/" + names.joined(separator: "/") }
        while let name = rest.popLast() {
            if name == "." { continue }
            if name == ".." {
                _ = current.popLast()
                continue
            }
            let path = joined(current + [name])
            (lastFolder, lastName) = (EntryName(joined(current)), EntryName(name))
            var status = stat()
            guard lstat(path, &status) == 0 else {
                (exists, isFolder) = (false, false)
                resolved = EntryName(joined(current + [name] + rest.reversed()))
                return
            }
            let step = Step(
                path: EntryName(path), device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
                isLink: status.st_mode & S_IFMT == S_IFLNK)
            isFolder = status.st_mode & S_IFMT == S_IFDIR
            guard step.isLink else {
                if !rest.isEmpty { steps.append(step) }
                current.append(name)
                continue
            }
            steps.append(step)
            links += 1
            guard links <= Self.maximumLinks, let target = linkTarget(path, in: AT_FDCWD) else {
                (exists, isFolder) = (false, false)
                break
            }
            if target.utf8.first == UInt8(ascii: "/") { current = [] }
            rest += pathNames(target).reversed()
        }
        resolved = EntryName(joined(current))
    }
}
