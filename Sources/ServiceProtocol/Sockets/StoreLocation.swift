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
    /// An empty variable counts as unset, and so does a relative `XDG_DATA_HOME`, as the XDG base directory
    /// specification asks.
    ///
    /// - Parameters:
    ///   - environment: The variables.
    ///   - workingDirectory: What a relative `SEARCHLIGHT_STORE` starts from, `nil` for the process's own.
    public init(environment: [String: String], workingDirectory: String? = nil) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let store = variable("SEARCHLIGHT_STORE") {
            self.init(folder: store, workingDirectory: workingDirectory)
        } else if let data = variable("XDG_DATA_HOME"), data.hasPrefix("/") {
            self.init(folder: data + "/searchlight/store", workingDirectory: workingDirectory)
        } else {
            let home = variable("HOME") ?? Self.homeOfUser() ?? "/"
            self.init(folder: home + "/.local/share/searchlight/store", workingDirectory: workingDirectory)
        }
    }

    /// The name of the socket in the store's folder.
    public static let socketName = "socket"

    /// The path of the socket, for people; it may be longer than a socket address can be.
    public var socketPath: String { folder == "/" ? "/" + Self.socketName : folder + "/" + Self.socketName }

    /// The home folder in the user database.
    private static func homeOfUser() -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            guard let start = buffer.baseAddress,
                getpwuid_r(getuid(), &entry, start, buffer.count, &found) == 0, found != nil, let home = entry.pw_dir
            else { return nil }
            return String(cString: home)
        }
    }

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
