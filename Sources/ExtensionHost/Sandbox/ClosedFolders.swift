// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport

/// One user's denied paths on this machine, under any name: ``DenyList`` with links and variables
/// resolved.
struct ClosedFolders {
    /// Real folders, each with the default names below the home folder that it stands for. The home
    /// folder is the last entry.
    private let folders: [(path: String, names: [String])]
    private let home: String
    /// The targets of denied paths that are links.
    private let secrets: [String]
    /// The identities of existing denied files, and of the folders that contain them. An identity
    /// detects the same file under a different spelling or in a second mount.
    private let closed: Set<FileIdentity>
    private let holders: Set<FileIdentity>

    init(_ user: UserFolders, _ paths: FollowedPaths) {
        let home = paths.real(user.home) ?? user.home
        self.home = home
        let places = [
            (user.config, DeclaredPath.Base.config), (user.data, .data), (user.cache, .cache), (user.state, .state),
        ]
        // A variable that names the home folder, or a folder above it, gives no information about
        // the contents.
        folders =
            places.map { (paths.real($0.0) ?? $0.0, DenyList.usual[$0.1] ?? []) }
            .filter { !lies(home, in: $0.0) } + [(home, [])]
        let named = DenyList.secrets.map { (names: $0, path: user.home + "/" + $0.joined(separator: "/")) }
        secrets = named.map { paths.real($0.path) ?? $0.path }
        var (closed, holders) = (Set<FileIdentity>(), Set([FileIdentity(home)].compactMap { $0 }))
        for (names, path) in named {
            guard let real = paths.existing(path), !lies(home, in: real), let identity = FileIdentity(real) else {
                continue
            }
            closed.insert(identity)
            for count in 1..<max(1, names.count) {
                let folder = user.home + "/" + names.prefix(count).joined(separator: "/")
                if let identity = FileIdentity(folder) { holders.insert(identity) }
            }
        }
        (self.closed, self.holders) = (closed, holders)
    }

    /// Returns the reason why a resolved path is denied; `nil` if it is not.
    func reason(_ real: String) -> DenyList.Reason? {
        let names = pathNames(real)
        let reason: DenyList.Reason?
        if let (folder, usual) = folders.first(where: { lies(real, in: $0.path) }) {
            reason = DenyList.reason(belowHome: usual + pathNames(real, below: folder))
        } else {
            reason = DenyList.reason(belowRoot: names)
        }
        if let reason { return reason }
        if secrets.contains(where: { touches(real, $0) }) { return .secrets }
        if FileIdentity.chain(real).contains(where: closed.contains) { return .secrets }
        return FileIdentity(real).map(holders.contains) == true ? .secrets : nil
    }

    /// Returns `true` if one path contains the other. A link to a folder above the home folder
    /// denies nothing.
    private func touches(_ real: String, _ other: String) -> Bool {
        !lies(home, in: other) && (lies(real, in: other) || lies(other, in: real))
    }
}
