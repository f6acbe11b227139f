// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where the store of a user is, and with it the socket of the service that has it open.
public struct StoreLocation: Hashable, Sendable {
    /// The absolute path of the store's folder.
    public let folder: String

    /// A store in a folder that was named; a relative path is meant from the working directory.
    ///
    /// - Parameter workingDirectory: The absolute path of it, `nil` for the process's own.
    public init(folder: String, workingDirectory: String? = nil) {
        self.folder = Self.absolute(folder, from: workingDirectory)
    }

    /// The store that is used when none is named: `$SEARCHLIGHT_STORE`, else `searchlight/store` in `$XDG_DATA_HOME`,
    /// else in `~/.local/share`.
    ///
    /// An empty variable counts as unset, and so does a relative one of the last two, as the XDG base directory
    /// specification asks.
    ///
    /// - Parameters:
    ///   - environment: The variables.
    ///   - workingDirectory: What a relative `SEARCHLIGHT_STORE` starts from, `nil` for the process's own.
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

    /// The path of the socket, for people; it may be longer than a socket address can be.
    public var socketPath: String { folder == "/" ? "/" + Self.socketName : folder + "/" + Self.socketName }

    /// Absolute, without empty parts, `.` and `..`; symbolic links are not looked at.
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
