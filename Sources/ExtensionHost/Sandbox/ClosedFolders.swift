// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The closed places of one person on this machine, whatever they are called here: ``ClosedPlaces`` once links and
/// variables are followed.
struct ClosedFolders {
    /// Folders with the names below the home folder that they stand for; the home folder is the last.
    private let folders: [(path: String, names: [String])]
    private let home: String
    /// Where closed names that are links lead to: the folder in which a person keeps their settings, for example.
    private let programs: [String]
    private let secrets: [String]

    /// The most names of a folder that are looked at.
    private static let maximumNames = 4096

    init(_ user: UserFolders) {
        let home = SmallFile.resolvedSoFar(user.home)
        self.home = home
        let places = [(user.config, DeclaredPath.Base.config), (user.data, .data), (user.cache, .cache)]
        // A variable that names the home folder, or what is around it, says nothing of what is there.
        folders =
            places.map { (SmallFile.resolvedSoFar($0.0), ClosedPlaces.usual[$0.1] ?? []) }
            .filter { !lies(home, in: $0.0) } + [(home, [])]
        secrets = ClosedPlaces.secrets.map { SmallFile.resolvedSoFar(user.home + "/" + $0.joined(separator: "/")) }
        programs =
            [(user.home, []), (user.config, [".config"]), (user.data, [".local", "share"])].flatMap { folder, names in
                Self.links(in: folder) { name in
                    // The folders themselves are judged by what is asked for in them.
                    ![".config", ".local", ".cache", ".var"].contains(name)
                        && ClosedPlaces.reason(belowHome: names + [name], isWritable: true) != nil
                }
            }
    }

    /// Why a path without links is closed.
    func reason(_ real: String, isWritable: Bool) -> ClosedPlaces.Reason? {
        let names = real.split(separator: "/").map(String.init)
        let reason: ClosedPlaces.Reason?
        if let (folder, usual) = folders.first(where: { lies(real, in: $0.path) }) {
            let below = names.dropFirst(folder.split(separator: "/").count)
            reason = ClosedPlaces.reason(belowHome: usual + below, isWritable: isWritable)
        } else {
            reason = ClosedPlaces.reason(belowRoot: names, isWritable: isWritable)
        }
        if let reason { return reason }
        if secrets.contains(where: { touches(real, $0) }) { return .secrets }
        return isWritable && programs.contains { touches(real, $0) } ? .programs : nil
    }

    /// Whether one of two places holds the other; a link to all that is around the home folder closes nothing.
    private func touches(_ real: String, _ other: String) -> Bool {
        !lies(home, in: other) && (lies(real, in: other) || lies(other, in: real))
    }

    /// Where the symbolic links of a folder lead to.
    private static func links(in folder: String, _ isMeant: (String) -> Bool) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        return names.prefix(maximumNames).filter(isMeant).compactMap { name in
            var status = stat()
            let path = folder + "/" + name
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
            return SmallFile.resolvedSoFar(path)
        }
    }
}
