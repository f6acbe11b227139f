// SPDX-License-Identifier: Apache-2.0

/// The roots of all paths that a diagnosis reads; replaceable in tests.
package struct DiagnosisRoots: Sendable {
    /// The folder of processes, usually `/proc`.
    package var proc = "/proc"
    /// The folder of devices, usually `/sys`.
    package var sys = "/sys"
    /// The prefix of `/etc`, `/usr` and `/run`, usually empty.
    package var system = ""
    /// The environment without empty variables.
    package var environment: [String: String]
    /// The folder of the store.
    package var store: String
    /// The directories in which extensions are searched for.
    package var extensionSearchPath: [String]
    /// The service's process name.
    package var serviceName = "searchlightd"
    /// The time limit for each part, in seconds.
    package var patience = 2.0

    /// Creates this machine's roots.
    package init(environment: [String: String], store: String, extensionSearchPath: [String]) {
        self.environment = environment
        self.store = store
        self.extensionSearchPath = extensionSearchPath
    }

    /// Returns the folder in a variable; `nil` for a relative path, as the XDG Base Directory
    /// specification requires.
    func folder(_ variable: String) -> String? { environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } }

    /// Returns a folder for user files: from a variable, or else in the home folder.
    func userFolder(_ variable: String, _ inHome: String) -> String? {
        folder(variable) ?? folder("HOME").map { $0 + "/" + inHome }
    }

    /// The folders for shared data files, without the user's own folder.
    var dataFolders: [String] {
        (environment["XDG_DATA_DIRS"] ?? "\(system)/usr/local/share:\(system)/usr/share").split(separator: ":")
            .map(String.init).filter { $0.hasPrefix("/") }
    }
}
