// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport

/// The folders that one extension may write to on this machine: ``WritableNames`` with variables,
/// links and mounts resolved.
///
/// A path is writable if it lies in one of ``roots``, both as written and as resolved, and has no
/// hidden name below the root. It must neither contain nor lie in one of ``closed``.
package struct WritableFolders {
    /// A folder below which an extension may write.
    private struct Root {
        /// The path as formed from variables and names.
        var written: String
        /// The path without links.
        var real: String
        /// `true` if the folder is named after the extension or its app.
        var isOwn: Bool
    }
    private let roots: [Root]
    /// The extension's own folders in a base that other users may write to, each with its base. A
    /// variable names the base.
    private let foreign: [(own: String, base: String)]
    /// The denied paths, without links.
    private let closed: [Closed]
    private struct Closed {
        var path: String
        var reason: DenyList.Reason
        /// The path in lower case.
        var folded: String
        /// The file's identity, and the identities of the document folders that contain it. Only
        /// set if declared paths are checked.
        var identity: FileIdentity?
        var holders: Set<FileIdentity> = []
    }
    private let home: String
    private let paths: FollowedPaths
    private let elsewhere: DenyList.Reason
    /// The mounts and links that lead to documents; `nil` if they were not examined.
    private let surroundings: Surroundings?

    /// The mounts and links on a machine that lead to document folders or to parts of them.
    struct Surroundings {
        /// The mount table; `nil` if it cannot be read.
        var mounts: MountPoints?
        /// The limits of the search for links.
        var limits = HiddenLinks.Limits()
        fileprivate var unseen: String?

        init(mounts: MountPoints?, limits: HiddenLinks.Limits = HiddenLinks.Limits()) {
            (self.mounts, self.limits) = (mounts, limits)
        }
    }

    /// Determines the writable folders.
    ///
    /// - Parameters:
    ///   - names: The names of the extension's own folders.
    ///   - environment: The host's environment variables, which name the search paths of programs.
    ///   - surroundings: `nil` to skip the examination of mounts and links, which takes
    ///     milliseconds on a machine with much software. Then only the extension's own folders may
    ///     be passed to ``reason(_:)``.
    init(
        _ user: UserFolders, _ names: AppNames, environment: [String: String], _ paths: FollowedPaths,
        _ surroundings: Surroundings?
    ) {
        let home = paths.real(user.home) ?? user.home
        self.home = home
        self.paths = paths
        elsewhere = .elsewhere(names)
        var roots: [Root] = []
        var foreign: [(own: String, base: String)] = []
        let settings = paths.real(user.config) ?? user.config
        for (base, usual) in user.bases {
            guard let real = paths.real(base), Self.isBase(base, real, usual: usual, user, home: home, paths) else {
                if !lies(base, in: user.home) { foreign += names.names.map { (base + "/" + $0, base) } }
                continue
            }
            // If the variables name one folder twice, the stricter rules for settings apply.
            let isSettings = lies(real, in: settings) || lies(settings, in: real)
            // A link in place of an extension's own folder is not followed, because it may lead
            // anywhere.
            for name in names.names where names.contains(name, isSettings: isSettings) {
                roots.append(Root(written: base + "/" + name, real: real + "/" + name, isOwn: true))
            }
        }
        for name in names.names {
            for kind in ["data", "cache"] {
                let below = "/.var/app/\(name)/\(kind)"
                roots.append(Root(written: user.home + below, real: home + below, isOwn: true))
            }
        }
        for folder in user.documentFolders {
            guard let real = paths.real(folder), Self.holdsDocuments(folder, real: real, user, home: home) else {
                continue
            }
            roots.append(Root(written: folder, real: real, isOwn: false))
        }
        (self.roots, self.foreign) = (roots, foreign)
        guard var surroundings else {
            self.surroundings = nil
            closed = Self.closed(user, environment, home: home, paths)
            return
        }
        let links = HiddenLinks(user, to: roots.map(\.real), paths, limits: surroundings.limits)
        let named = NamedInSettings(user, in: roots.filter { !$0.isOwn }.map(\.real), paths)
        surroundings.unseen = links.unseen
        self.surroundings = surroundings
        closed = Self.closed(
            user, environment, home: home, paths, links: links.targets + named.targets, in: roots.map(\.real))
    }

    /// Returns the reason why a path may not be written; `nil` if it may.
    ///
    /// - Parameter path: An absolute path without `.` and `..`. The file does not have to exist.
    func reason(_ path: String) -> DenyList.Reason? {
        guard let real = paths.real(path) else { return .unfollowed }
        guard let root = roots.first(where: { lies(real, in: $0.real) }),
            let written = roots.first(where: { lies(path, in: $0.written) || lies(path, in: $0.real) })
        else { return foreign.first { lies(path, in: $0.own) }.map { .foreign($0.base) } ?? elsewhere }
        let start = lies(path, in: written.written) ? written.written : written.real
        for names in [pathNames(real, below: root.real), pathNames(path, below: start)] {
            if let name = names.first(where: { $0.isHiddenName }) { return .hidden(name) }
        }
        // A file (not a folder) with the app's name belongs to another program. In some folders,
        // file names determine which programs are run.
        if root.isOwn, Self.isFile(root.real) { return elsewhere }
        if lies(home, in: real) { return .everything }
        let folded = [real.lowercased(), path.lowercased()]
        let identities = surroundings == nil ? [] : FileIdentity.chain(real)
        let itself = surroundings == nil ? nil : FileIdentity(real)
        for place in closed {
            let isSame =
                place.identity.map(identities.contains) ?? false
                || itself.map(place.holders.contains) ?? false
            guard isSame || folded.contains(where: { Self.touches($0, place.folded) }) else { continue }
            // A denied parent of all apps' folders does not deny each of these folders.
            if root.isOwn, lies(root.real, in: place.path), root.real != place.path { continue }
            // The same applies to the path as written. Its target is checked separately.
            if root.isOwn, written.isOwn, lies(written.written, in: place.path), written.written != place.path {
                continue
            }
            return place.reason
        }
        guard let surroundings else { return nil }
        if !root.isOwn || !written.isOwn {
            guard surroundings.mounts != nil else { return .unknownMounts }
            if let unseen = surroundings.unseen { return .unseen(unseen) }
        }
        return surroundings.mounts?.source(of: real, below: root.real, home: home).map { .mounted($0) }
    }

    /// Returns the reason why a declared path is not granted; `nil` if it is.
    ///
    /// - Parameters:
    ///   - path: The path as written in a manifest.
    ///   - bundle: The identifier of the extension's bundle.
    ///   - desktopEntry: The name of its app's desktop entry.
    ///   - environment: The host's environment variables.
    ///   - mounts: The mount table; `nil` if it cannot be read.
    ///   - names: The name budget for the link search.
    package static func refusal(
        of path: String, bundle: String, desktopEntry: String? = nil, environment: [String: String],
        mounts: MountPoints?, names most: Int? = nil
    ) -> String? {
        let names = AppNames(bundle: bundle, desktopEntry: desktopEntry)
        guard let declared = DeclaredPath(path) else { return "it is not a path" }
        if let reason = WritableNames.reason(declared, names) { return reason.sentence }
        guard let user = UserFolders(environment: environment) else { return "there is no home folder" }
        guard let real = user.path(declared, bundle: "/") else { return "there is no such folder" }
        var surroundings = Surroundings(mounts: mounts)
        if let most { surroundings.limits.names = most }
        return WritableFolders(user, names, environment: environment, FollowedPaths(), surroundings).reason(real)?
            .sentence
    }

    // MARK: The rules for folders

    /// Returns `true` if apps' own folders may be in a base that a variable names. The base must be
    /// the default base, or another of the user's folders that is neither hidden nor the home
    /// folder.
    private static func isBase(
        _ base: String, _ real: String, usual: String, _ user: UserFolders, home: String, _ paths: FollowedPaths
    ) -> Bool {
        guard !lies(home, in: real) else { return false }
        if user.bases.contains(where: { user.home + $0.usual == base || home + $0.usual == real }) {
            return lies(real, in: home) || isUsers(real)
        }
        return isVisible(real, below: home) && (!lies(base, in: user.home) || isVisible(base, below: user.home))
            || !lies(base, in: user.home) && isUsers(real)
    }

    /// Returns `true` if a folder in `user-dirs.dirs` is usable. Below the home folder, its path
    /// must have no hidden name. Elsewhere, the folder must belong to the user.
    private static func holdsDocuments(_ folder: String, real: String, _ user: UserFolders, home: String) -> Bool {
        if lies(folder, in: user.home), !isVisible(folder, below: user.home) { return false }
        if lies(real, in: home) { return isVisible(real, below: home) }
        return !lies(home, in: real) && isUsers(real)
    }

    private static func isVisible(_ path: String, below folder: String) -> Bool {
        guard lies(path, in: folder), !lies(folder, in: path) else { return false }
        return !pathNames(path, below: folder).contains { $0.isHiddenName }
    }

    /// Returns `true` if a folder outside the home folder belongs to the user. It must be on a disk
    /// that is mounted for the user, or be owned by the user and writable by nobody else. Folders
    /// that the system runs from belong to root.
    private static func isUsers(_ real: String) -> Bool {
        let names = pathNames(real)
        if names.contains(where: { $0.isHiddenName }) { return false }
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

    // MARK: The denied paths

    /// Returns the denied paths.
    ///
    /// - Parameter places: The paths that may be declared; `nil` to compare names only.
    private static func closed(
        _ user: UserFolders, _ environment: [String: String], home: String, _ paths: FollowedPaths,
        links: [String] = [],
        in places: [String]? = nil
    ) -> [Closed] {
        var closed: [Closed] = []
        func close(_ path: String, _ reason: DenyList.Reason) {
            let followed = try? paths.follow(path)
            for place in Set([path, followed?.path ?? path]) where !lies(home, in: place) {
                var one = Closed(path: place, reason: reason, folded: place.lowercased())
                if let places, let followed, followed.isThere, place == followed.path {
                    one.identity = FileIdentity(place)
                    if places.contains(where: { lies(place, in: $0) }) { one.holders = Set(FileIdentity.chain(place)) }
                }
                closed.append(one)
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
        for names in DenyList.secrets { close(user.home + "/" + names.joined(separator: "/"), .secrets) }
        return closed
    }

    private static let maximumParts = 256

    /// Returns `true` if a variable names folders that are searched for programs, libraries or
    /// modules: `PATH`, `LD_LIBRARY_PATH`, `PYTHONPATH`, `CARGO_HOME`, `NVM_DIR`, `GOROOT`,
    /// `XDG_DATA_DIRS`, …
    private static func saysWhereCodeIs(_ name: String) -> Bool {
        if name == "HOME" || name.hasPrefix("XDG_") && !name.hasSuffix("_DIRS") { return false }
        return ["PATH", "HOME", "DIR", "DIRS", "ROOT", "PREFIX"].contains { name.hasSuffix($0) } && name != "TMPDIR"
    }

    /// Returns `true` if one path contains the other. Both must be in lower case, because some file
    /// systems ignore case.
    private static func touches(_ path: String, _ other: String) -> Bool {
        lies(path, in: other) || lies(other, in: path)
    }
}

extension UserFolders {
    /// The folders that contain all apps' folders, with their default paths below the home folder.
    var bases: [(path: String, usual: String)] {
        [(data, "/.local/share"), (state, "/.local/state"), (cache, "/.cache"), (config, "/.config")]
    }
}
