// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A user and mount namespace in which a test may mount file systems. A suite that needs it is
/// enabled only there (``isEntered``). A test in another suite runs it in a separate process
/// (``run(_:)``).
package enum MountNamespace {
    private static let variable = "SEARCHLIGHT_MOUNT_NAMESPACE"
    package static let isEntered = ProcessInfo.processInfo.environment[variable] != nil
    private static let command = ["--user", "--map-root-user", "--mount"]
    /// `true` if the machine permits such a namespace.
    package static let isAllowed =
        !isEntered
        && (try? ChildProcess.run("/usr/bin/unshare", command + ["mount", "-t", "tmpfs", "none", "/mnt"]).ending.status)
            == 0

    /// Runs a suite in a new namespace.
    package static func run(_ suite: String) throws -> (ending: ChildProcess.Ending, output: String) {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var environment = ProcessInfo.processInfo.environment
        environment[variable] = "1"
        return try ChildProcess.run(
            "/usr/bin/unshare", command + [program, "--testing-library", "swift-testing", "--filter", suite],
            environment: environment)
    }
}
