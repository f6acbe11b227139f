// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Where the links lead to that a person has in place of settings and programs: who keeps their dotfiles among their documents
/// links to them from the places where they are read.
enum HiddenLinks {
    /// The most names that are looked at.
    private static let maximumNames = 8192
    /// How deep: three folders below those of settings and data, two below the hidden ones of the home folder.
    private static let (home, base, hidden, deepest) = (0, 1, 2, 3)

    /// Paths without links, to which links lead in the home folder's hidden names and in the folders of settings and data.
    static func targets(_ user: UserFolders) -> [String] {
        var left = maximumNames
        var found: Set<String> = []
        // The home folder's own names, then what is below the hidden ones, the nearest first.
        var folders: [(path: String, depth: Int)] = [(user.home, home)]
        folders += user.bases.map { ($0.path, base) }
        var next = 0
        while next < folders.count, left > 0 {
            let (folder, depth) = folders[next]
            next += 1
            entries(folder, &left) { name, kind in
                let path = folder + "/" + name
                guard depth > home || name.hasPrefix(".") else { return }
                if kind == DT_LNK {
                    // A base that is a link is judged as one.
                    if !user.bases.contains(where: { $0.path == path }) { found.insert(SmallFile.resolvedSoFar(path)) }
                } else if kind == DT_DIR, depth < deepest, !isOfAnApp(name, depth), !isData(path, user) {
                    folders.append((path, depth == home ? hidden : depth + 1))
                }
            }
        }
        return Array(found)
    }

    /// What an app links to in its own folder is no program's setting.
    private static func isOfAnApp(_ name: String, _ depth: Int) -> Bool { depth > home && AppNames.isAppName(name) }

    /// Caches are many, and read by nobody but who wrote them; Flatpak's folders are apps' own.
    private static func isData(_ path: String, _ user: UserFolders) -> Bool {
        path == user.cache || path == user.home + "/.var" || lies(path, in: user.cache)
    }

    private static func entries(_ folder: String, _ left: inout Int, _ body: (String, Int) -> Void) {
        guard let start = MemoryLayout<dirent>.offset(of: \.d_name), let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        while left > 0, let entry = readdir(stream) {
            left -= 1
            let name = String(
                cString: UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self))
            guard name != ".", name != ".." else { continue }
            var kind = Int(entry.pointee.d_type)
            if kind == DT_UNKNOWN { kind = Self.kind(folder + "/" + name) }
            body(name, kind)
        }
    }

    private static func kind(_ path: String) -> Int {
        var status = stat()
        guard lstat(path, &status) == 0 else { return DT_UNKNOWN }
        switch status.st_mode & S_IFMT {
        case S_IFLNK: return DT_LNK
        case S_IFDIR: return DT_DIR
        default: return DT_REG
        }
    }
}
