// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemSupport

/// The folder for files that are created for receivers: `searchlight/drops` in the user's cache
/// folder. Only this user can read it. Receivers copy a file after the drop, so files are removed
/// only when the window is started later.
package struct DropFolder: Sendable {
    /// The path of the folder.
    package let path: String

    /// The age at which a file is removed, in seconds.
    private static let lifetime = 86_400.0
    private static var mode: [FileAttributeKey: Any] { [.posixPermissions: 0o700] }

    /// The error for a folder that cannot be used.
    package struct Unusable: Error, CustomStringConvertible {
        package let path: String
        package var description: String {
            "The folder \(path) cannot be created, or belongs to another user. Check it, or set XDG_CACHE_HOME."
        }
    }

    /// Creates the folder object for an environment; `nil` if the user has neither a cache folder
    /// nor a home folder.
    package init?(environment: [String: String]) {
        let folders = BaseDirectories(environment: environment, user: BaseDirectories.homeOfUser)
        guard let cache = folders.cache else { return nil }
        path = cache + "/searchlight/drops"
    }

    /// Creates the folder object for a path.
    package init(path: String) { self.path = path }

    /// Creates an empty folder for one drag.
    ///
    /// - Throws: ``Unusable``.
    package func makeFolder() throws(Unusable) -> String {
        let own = path + "/" + UUID().uuidString
        do {
            let manager = FileManager.default
            try manager.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: Self.mode)
            guard (try? OwnFile.check(path, .folder)) == true else { throw Unusable(path: path) }
            try manager.createDirectory(atPath: own, withIntermediateDirectories: false, attributes: Self.mode)
        } catch {
            throw Unusable(path: path)
        }
        return own
    }

    /// Removes the folders of drags that ended more than a day ago.
    package func removeOld(now: Date = Date()) {
        let manager = FileManager.default
        for name in (try? manager.contentsOfDirectory(atPath: path)) ?? [] {
            let own = path + "/" + name
            guard let made = try? manager.attributesOfItem(atPath: own)[.modificationDate] as? Date,
                now.timeIntervalSince(made) > Self.lifetime
            else { continue }
            try? manager.removeItem(atPath: own)
        }
    }
}
