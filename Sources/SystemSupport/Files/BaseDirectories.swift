// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The folders of the XDG Base Directory specification. A variable that is empty or not an absolute
/// path is treated as unset, as the specification requires.
package struct BaseDirectories: Sendable {
    /// The home folder; `nil` if unknown.
    package let home: String?
    /// `$XDG_CONFIG_HOME`, or else `.config` in the home folder.
    package let config: String?
    /// `$XDG_DATA_HOME`, or else `.local/share` in the home folder.
    package let data: String?
    /// `$XDG_STATE_HOME`, or else `.local/state` in the home folder.
    package let state: String?
    /// `$XDG_CACHE_HOME`, or else `.cache` in the home folder.
    package let cache: String?
    /// `$XDG_DATA_DIRS`, or else `/usr/local/share` and `/usr/share`, in order of precedence.
    package let sharedData: [String]

    /// Determines the folders for an environment.
    ///
    /// - Parameters:
    ///   - environment: The variables.
    ///   - user: Returns the home folder if no variable specifies it.
    ///   - absolute: Returns a path in a usable form; `nil` for an invalid path.
    package init(
        environment: [String: String], user: () -> String? = { nil },
        absolute: (String) -> String? = { $0.hasPrefix("/") ? $0 : nil }
    ) {
        func variable(_ name: String) -> String? { environment[name].flatMap(absolute) }
        let home = variable("HOME") ?? user()
        func folder(_ name: String, _ usual: String) -> String? { variable(name) ?? home.map { $0 + usual } }
        self.home = home
        config = folder("XDG_CONFIG_HOME", "/.config")
        data = folder("XDG_DATA_HOME", "/.local/share")
        state = folder("XDG_STATE_HOME", "/.local/state")
        cache = folder("XDG_CACHE_HOME", "/.cache")
        let shared = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        sharedData = shared.split(separator: ":").compactMap { absolute(String($0)) }
    }

    /// Returns the home folder according to the user database.
    package static func homeOfUser() -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            guard let start = buffer.baseAddress,
                getpwuid_r(getuid(), &entry, start, buffer.count, &found) == 0, found != nil, let home = entry.pw_dir
            else { return nil }
            return String(cString: home)
        }
    }
}
