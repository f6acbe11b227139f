// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The path of a user's store and of its service's socket.
public struct StoreLocation: Hashable, Sendable {
    /// The absolute path of the store's folder.
    public let folder: String

    /// A store in a given folder; a relative path is relative to the working directory.
    ///
    /// - Parameter workingDirectory: The absolute path of the working directory; `nil` for the
    ///   process's own.
    public init(folder: String, workingDirectory: String? = nil) {
        self.folder = Self.absolute(folder, from: workingDirectory)
    }

    /// The default store: `$SEARCHLIGHT_STORE`, or else `searchlight/store` in `$XDG_DATA_HOME` or,
    /// if that is unset, in `~/.local/share`.
    ///
    /// An empty variable is treated as unset. So is a relative `$XDG_DATA_HOME` or `$HOME`, as the
    /// XDG Base Directory specification requires.
    ///
    /// - Parameters:
    ///   - environment: The variables.
    ///   - workingDirectory: The base of a relative `SEARCHLIGHT_STORE`; `nil` for the process's
    ///     own.
    public init(environment: [String: String], workingDirectory: String? = nil) {
        if let store = environment["SEARCHLIGHT_STORE"], !store.isEmpty {
            self.init(folder: store, workingDirectory: workingDirectory)
        } else {
            let folders = BaseDirectories(environment: environment, user: BaseDirectories.homeOfUser)
            self.init(folder: (folders.data ?? "/.local/share") + "/searchlight/store")
        }
    }

    /// The name of the socket in the store's folder.
    public static let socketName = "socket"

    /// The path of the socket, for display. It may be longer than a socket address allows.
    public var socketPath: String { folder == "/" ? "/" + Self.socketName : folder + "/" + Self.socketName }

    /// Returns an absolute path without empty components, `.` and `..`. Does not resolve symbolic
    /// links.
    private static func absolute(_ path: String, from workingDirectory: String?) -> String {
        let start = path.hasPrefix("/") ? "" : (workingDirectory ?? currentDirectory() ?? "/") + "/"
        var parts: [Substring] = []
        for part in (start + path).split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    private static func currentDirectory() -> String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
