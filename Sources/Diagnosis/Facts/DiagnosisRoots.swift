// SPDX-License-Identifier: Apache-2.0

/// Where a look at the machine looks; a test puts its own folders there.
package struct DiagnosisRoots: Sendable {
    /// The folder of processes, usually `/proc`.
    package var proc = "/proc"
    /// The folder of devices, usually `/sys`.
    package var sys = "/sys"
    /// What stands before `/etc`, `/usr` and `/run`, usually nothing.
    package var system = ""
    /// The variables, without empty ones.
    package var environment: [String: String]
    /// The folder of the store.
    package var store: String
    /// Where extensions are looked for.
    package var extensionSearchPath: [String]
    /// The name that a process of the service has.
    package var serviceName = "searchlightd"
    /// How long each part is waited for, in seconds.
    package var patience = 2.0

    /// The machine that this runs on.
    package init(environment: [String: String], store: String, extensionSearchPath: [String]) {
        self.environment = environment
        self.store = store
        self.extensionSearchPath = extensionSearchPath
    }

    /// A folder that a variable names; a relative one does not count, as the XDG base directory specification asks.
    func folder(_ variable: String) -> String? { environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } }

    /// The folder of a kind of user files: that of a variable, else one in the home.
    func userFolder(_ variable: String, _ inHome: String) -> String? {
        folder(variable) ?? folder("HOME").map { $0 + "/" + inHome }
    }

    /// The folders of shared files, without the user's.
    var dataFolders: [String] {
        (environment["XDG_DATA_DIRS"] ?? "\(system)/usr/local/share:\(system)/usr/share").split(separator: ":")
            .map(String.init).filter { $0.hasPrefix("/") }
    }
}
