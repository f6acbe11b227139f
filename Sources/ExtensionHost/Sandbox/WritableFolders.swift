// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The folders that one extension may have written on this machine: ``WritableNames`` once variables, links and mounts are
/// followed.
///
/// A path may be written if it lies in one of ``roots`` both as it is written and as it resolves, no name below that is hidden,
/// and it neither holds nor lies in one of ``closed``.
package struct WritableFolders {
    /// A folder below which an extension may write.
    private struct Root {
        /// As variables and names have it.
        var written: String
        /// Without links.
        var real: String
        /// Whether it is named after the extension or its app.
        var isOwn: Bool
    }
    private let roots: [Root]
    /// What is closed wherever it is, without links.
    private let closed: [(path: String, reason: ClosedPlaces.Reason)]
    private let home: String
    private let mounts: MountPoints?
    private let elsewhere: ClosedPlaces.Reason

    /// - Parameters:
    ///   - names: What the extension's own folders are called.
    ///   - environment: The variables of the host, which say where programs are looked for.
    ///   - mounts: What is mounted where; `nil` to look neither there nor for links that lead to what is asked for, which
    ///     takes milliseconds where much is installed.
    init(_ user: UserFolders, _ names: AppNames, environment: [String: String], mounts: MountPoints?) {
        let home = SmallFile.resolvedSoFar(user.home)
        self.home = home
        self.mounts = mounts
        elsewhere = .elsewhere(names)
        var roots: [Root] = []
        for (base, usual) in user.bases where Self.isBase(base, usual: usual, user, home: home) {
            let real = SmallFile.resolvedSoFar(base)
            // A link in its place is not followed: it is somebody's way to something else.
            roots += names.names.map { Root(written: base + "/" + $0, real: real + "/" + $0, isOwn: true) }
        }
        for name in names.names {
            for kind in ["data", "cache"] {
                let below = "/.var/app/\(name)/\(kind)"
                roots.append(Root(written: user.home + below, real: home + below, isOwn: true))
            }
        }
        for folder in user.documentFolders {
            let real = SmallFile.resolvedSoFar(folder)
            guard Self.holdsDocuments(folder, real: real, user, home: home) else { continue }
            roots.append(Root(written: folder, real: real, isOwn: false))
        }
        self.roots = roots
        closed = Self.closed(user, environment, home: home, links: mounts == nil ? [] : HiddenLinks.targets(user))
    }

    /// Why a path may not be written; `nil` if it may.
    ///
    /// - Parameter path: Absolute, without `.` and `..`; there need not be anything.
    func reason(_ path: String) -> ClosedPlaces.Reason? {
        let real = SmallFile.resolvedSoFar(path)
        guard let root = roots.first(where: { lies(real, in: $0.real) }),
            let written = roots.first(where: { lies(path, in: $0.written) || lies(path, in: $0.real) })
        else { return elsewhere }
        let start = lies(path, in: written.written) ? written.written : written.real
        for below in [real.dropFirst(root.real.count), path.dropFirst(start.count)] {
            if let name = below.split(separator: "/").first(where: { $0.hasPrefix(".") }) {
                return .hidden(String(name))
            }
        }
        // A file of an app's name is somebody else's, and there are folders in which files are run by their names.
        if root.isOwn, Self.isFile(root.real) { return elsewhere }
        if lies(home, in: real) { return .everything }
        for (place, reason) in closed where Self.touches(real, place) || Self.touches(path, place) {
            // What all apps' folders are in says nothing of one of them.
            if root.isOwn, lies(root.real, in: place), root.real != place { continue }
            return reason
        }
        return mounts?.source(of: real, below: root.real, home: home).map { .mounted($0) }
    }

    /// Why a declared path is not granted, by its name or by what it leads to; `nil` if it is.
    ///
    /// - Parameters:
    ///   - path: As a manifest has it.
    ///   - bundle: The identifier of the extension's bundle.
    ///   - desktopEntry: The name of its app's desktop entry.
    ///   - environment: The variables of the host.
    package static func refusal(
        of path: String, bundle: String, desktopEntry: String? = nil, environment: [String: String], mounts: MountPoints
    ) -> String? {
        let names = AppNames(bundle: bundle, desktopEntry: desktopEntry)
        guard let declared = DeclaredPath(path) else { return "it is no path" }
        if let reason = WritableNames.reason(declared, names) { return reason.sentence }
        guard let user = UserFolders(environment: environment) else { return "there is no home folder" }
        guard let real = user.path(declared, bundle: "/") else { return "there is no such folder" }
        return WritableFolders(user, names, environment: environment, mounts: mounts).reason(real)?.sentence
    }

    // MARK: The rules for folders

    /// Whether apps' own folders may be in a folder that a variable names: the usual one, or another of the user's that is not
    /// hidden and not the home folder.
    private static func isBase(_ base: String, usual: String, _ user: UserFolders, home: String) -> Bool {
        let real = SmallFile.resolvedSoFar(base)
        guard !lies(home, in: real) else { return false }
        if user.bases.contains(where: { user.home + $0.usual == base || home + $0.usual == real }) {
            return lies(real, in: home) || isUsers(real)
        }
        return isVisible(real, below: home) && (!lies(base, in: user.home) || isVisible(base, below: user.home))
            || !lies(base, in: user.home) && isUsers(real)
    }

    /// Whether a folder of `user-dirs.dirs` is one: below the home folder without a hidden name, or elsewhere on a disk of the
    /// user's, or of theirs alone.
    private static func holdsDocuments(_ folder: String, real: String, _ user: UserFolders, home: String) -> Bool {
        if lies(folder, in: user.home), !isVisible(folder, below: user.home) { return false }
        if lies(real, in: home) { return isVisible(real, below: home) }
        return !lies(home, in: real) && isUsers(real)
    }

    private static func isVisible(_ path: String, below folder: String) -> Bool {
        guard lies(path, in: folder), path != folder else { return false }
        return !path.dropFirst(folder.count).split(separator: "/").contains { $0.hasPrefix(".") }
    }

    /// Whether a folder outside of the home folder is the user's: on a disk that is mounted for them, or owned by them and written
    /// by nobody else. The administrator owns what the system is run from.
    private static func isUsers(_ real: String) -> Bool {
        let names = real.split(separator: "/")
        if names.contains(where: { $0.hasPrefix(".") }) { return false }
        switch names.first {
        case "media": return names.count >= 3
        case "mnt": return names.count >= 2
        case "run" where names.dropFirst().first == "media": return names.count >= 4
        default: break
        }
        var status = stat()
        return getuid() != 0 && stat(real, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            && status.st_uid == getuid() && status.st_mode & 0o022 == 0
    }

    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
    }

    // MARK: What is closed

    private static func closed(
        _ user: UserFolders, _ environment: [String: String], home: String, links: [String]
    ) -> [(path: String, reason: ClosedPlaces.Reason)] {
        var closed: [(path: String, reason: ClosedPlaces.Reason)] = []
        func close(_ path: String, _ reason: ClosedPlaces.Reason) {
            for path in Set([path, SmallFile.resolvedSoFar(path)]) where !lies(home, in: path) {
                closed.append((path, reason))
            }
        }
        for (base, _) in user.bases { close(base, .programs) }
        close(user.home + "/.var", .programs)
        for kind in [UserFolders.NamedFolder.desktop, .templates, .publicShare] {
            if let folder = user.folder(kind) { close(folder, .started) }
        }
        for (name, value) in environment where Self.saysWhereCodeIs(name) {
            for part in value.split(separator: ":").prefix(maximumParts) {
                if let path = UserFolders.absolute(String(part)) { close(path, .named(by: name)) }
            }
        }
        for path in links { close(path, .programs) }
        for names in ClosedPlaces.secrets { close(user.home + "/" + names.joined(separator: "/"), .secrets) }
        return closed
    }

    private static let maximumParts = 256

    /// Whether a variable's value are folders in which programs, libraries or modules are looked for: `PATH`,
    /// `LD_LIBRARY_PATH`, `PYTHONPATH`, `CARGO_HOME`, `NVM_DIR`, `GOROOT`, `XDG_DATA_DIRS`, …
    private static func saysWhereCodeIs(_ name: String) -> Bool {
        if name == "HOME" || name.hasPrefix("XDG_") && !name.hasSuffix("_DIRS") { return false }
        return ["PATH", "HOME", "DIR", "DIRS", "ROOT", "PREFIX"].contains { name.hasSuffix($0) } && name != "TMPDIR"
    }

    /// Whether one of two places holds the other, where letters' case does not count: on some file systems it does not.
    private static func touches(_ path: String, _ other: String) -> Bool {
        let (path, other) = (path.lowercased(), other.lowercased())
        return lies(path, in: other) || lies(other, in: path)
    }
}

extension UserFolders {
    /// The folders in which all apps have theirs, and where each usually is, below the home folder.
    var bases: [(path: String, usual: String)] {
        [(data, "/.local/share"), (state, "/.local/state"), (cache, "/.cache"), (config, "/.config")]
    }
}
