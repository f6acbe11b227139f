// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The paths among the user's documents that a shell searches for programs or reads when it starts.
/// The settings files must be read, because a service does not have the environment of a shell in a
/// terminal, whose `PATH` is set in files like `.profile`.
struct NamedInSettings {
    /// The resolved paths in document folders.
    private(set) var targets: [String] = []

    /// Files below the home folder.
    private static let files = [
        ".profile", ".bash_profile", ".bash_login", ".bashrc", ".bash_aliases", ".zshenv", ".zprofile", ".zshrc",
        ".zlogin", ".kshrc", ".cshrc", ".tcshrc", ".login", ".xprofile", ".xsessionrc", ".xsession", ".xinitrc",
        ".pam_environment",
    ]
    /// Files below the settings folder.
    private static let settings = ["/fish/config.fish", "/plasma-workspace/env/path.sh", "/uwsm/env"]
    private static let variables = "/environment.d"
    private static let (maximumBytes, maximumFiles, maximumPaths) = (256 << 10, 64, 256)

    /// Reads the settings files.
    ///
    /// - Parameter places: The document folders, resolved.
    init(_ user: UserFolders, in places: [String], _ paths: FollowedPaths) {
        var files = Self.files.map { user.home + "/" + $0 } + Self.settings.map { user.config + $0 }
        let names = (try? BoundedFile.names(in: user.config + Self.variables, limit: Self.maximumFiles)) ?? []
        files += names.map { user.config + Self.variables + "/" + $0 }
        var found: Set<[UInt8]> = []
        for file in files {
            guard let bytes = try? BoundedFile.regular(file, limit: Self.maximumBytes) else { continue }
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                let line = String(decoding: line, as: UTF8.self)
                guard Self.saysWhereCodeIs(line) else { continue }
                for path in Self.paths(in: line, user) where found.count < Self.maximumPaths {
                    guard let real = paths.real(path), places.contains(where: { lies(real, in: $0) }) else { continue }
                    if found.insert(Array(real.utf8)).inserted { targets.append(real) }
                }
            }
        }
    }

    /// Returns `true` if a line sets a program search path or reads another file. Returns `false`
    /// for a line that changes the directory.
    private static func saysWhereCodeIs(_ line: String) -> Bool {
        if line.lowercased().replacing("cdpath", with: "").contains("path") { return true }
        return line.split { " \t;&|(){}".contains($0) }.contains { ["source", ".", "exec", "eval"].contains($0) }
    }

    /// Returns the absolute paths in a line, and the paths below the home folder. Names may contain
    /// spaces, so each path is returned in two forms: one that ends where a shell would end the
    /// word, and one that ends at a quote.
    private static func paths(in line: String, _ user: UserFolders) -> [String] {
        var found: [String] = []
        for beginning in ["~", "$HOME", "${HOME}", user.home] {
            for range in line.ranges(of: beginning + "/").prefix(maximumPaths) {
                let rest = line[range.upperBound...]
                for ends in ["\"':\r", "\"':\r \t;&|()<>,"] {
                    let name = rest.prefix { !ends.contains($0) }
                    if let path = UserFolders.absolute(user.home + "/" + name) { found.append(path) }
                }
            }
        }
        return found
    }
}
