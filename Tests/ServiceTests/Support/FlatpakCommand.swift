// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Runs programs in a sandbox as Flatpak creates it: with `.flatpak-info` in its root, and the
/// session bus as its only way out.
struct FlatpakCommand {
    private static let bubblewrap = "/usr/bin/bwrap"
    private let folder: TemporaryFolder
    private let arguments: [String]

    /// Prepares the sandbox of an app.
    ///
    /// - Returns: `nil` if bubblewrap is not installed or does not work here; prints a message.
    init?(_ application: String) throws {
        guard FileManager.default.isExecutableFile(atPath: Self.bubblewrap) else {
            print("Skipped: \(Self.bubblewrap) is not installed.")
            return nil
        }
        folder = try TemporaryFolder()
        try folder.write(Array("[Application]\nname=\(application)\n".utf8), to: "info")
        let build = URL(filePath: try Program.path("TestApp")).deletingLastPathComponent().path
        var sandbox = ["--ro-bind", "/usr", "/usr"]
        for name in ["lib", "lib64", "bin", "opt"] { sandbox += ["--ro-bind-try", "/\(name)", "/\(name)"] }
        sandbox += ["--ro-bind", build, build, "--proc", "/proc", "--dev", "/dev"]
        sandbox += ["--ro-bind", folder.path("info"), "/.flatpak-info", "--clearenv"]
        if let path = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] {
            sandbox += ["--setenv", "LD_LIBRARY_PATH", path]
        }
        arguments = sandbox
        let (ending, output) = try ChildProcess.run(Self.bubblewrap, arguments + ["/usr/bin/true"])
        guard ending == .exited(0) else {
            print("Skipped: bubblewrap does not work here: \(output)")
            return nil
        }
    }

    /// Runs a program in the sandbox to its end. Returns its exit status and its output.
    func run(
        _ program: [String], bus: PrivateBus, environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        var sandbox = arguments + ["--bind", bus.folder.path("bus"), "/run/bus"]
        let environment = environment.merging(
            ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus", "HOME": "/home/nobody"]) { $1 }
        for (name, value) in environment { sandbox += ["--setenv", name, value] }
        return try await Program.run(Self.bubblewrap, sandbox + program)
    }
}
