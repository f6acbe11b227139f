// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// What nobody may read of one person's on this machine, whatever it is called here: ``ClosedPlaces`` once links and variables
/// are followed.
struct ClosedFolders {
    /// Folders with the names below the home folder that they stand for; the home folder is the last.
    private let folders: [(path: String, names: [String])]
    private let home: String
    /// Where closed names that are links lead to.
    private let secrets: [String]

    init(_ user: UserFolders) {
        let home = SmallFile.resolvedSoFar(user.home)
        self.home = home
        let places = [
            (user.config, DeclaredPath.Base.config), (user.data, .data), (user.cache, .cache), (user.state, .state),
        ]
        // A variable that names the home folder, or what is around it, says nothing of what is there.
        folders =
            places.map { (SmallFile.resolvedSoFar($0.0), ClosedPlaces.usual[$0.1] ?? []) }
            .filter { !lies(home, in: $0.0) } + [(home, [])]
        secrets = ClosedPlaces.secrets.map { SmallFile.resolvedSoFar(user.home + "/" + $0.joined(separator: "/")) }
    }

    /// Why a path without links is closed.
    func reason(_ real: String) -> ClosedPlaces.Reason? {
        let names = real.split(separator: "/").map(String.init)
        let reason: ClosedPlaces.Reason?
        if let (folder, usual) = folders.first(where: { lies(real, in: $0.path) }) {
            let below = names.dropFirst(folder.split(separator: "/").count)
            reason = ClosedPlaces.reason(belowHome: usual + below)
        } else {
            reason = ClosedPlaces.reason(belowRoot: names)
        }
        return reason ?? (secrets.contains { touches(real, $0) } ? .secrets : nil)
    }

    /// Whether one of two places holds the other; a link to all that is around the home folder closes nothing.
    private func touches(_ real: String, _ other: String) -> Bool {
        !lies(home, in: other) && (lies(real, in: other) || lies(other, in: real))
    }
}
