// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// Runs the built command as an unprivileged user, even if root runs the tests. Root bypasses many
/// permission checks, so a run as root would test little.
///
/// The programs are in a world-readable folder of the test, since the user may have no access to
/// the build folder.
struct OrdinaryUser {
    /// An unused user ID, different for each run of the tests, since limits per user would be
    /// shared.
    private static let number = 60_600 + uid_t(getpid() % 4000)
    private static let tool = "/usr/bin/setpriv"
    private static let names = ["searchlight", "searchlight-worker", "libCoreSpotlight.so"]

    private let programs: TemporaryFolder
    private let command: Command
    private var isNeeded: Bool { getuid() == 0 }

    /// Prepares to run the command of a harness.
    ///
    /// - Throws: An expectation failure if the user cannot run the programs, so that no test passes
    ///   without running.
    init(_ harness: Harness) throws {
        command = Command(harness: harness)
        programs = try TemporaryFolder()
        chmod(programs.path, 0o755)
        for name in Self.names {
            let (source, place) = (BuiltProducts.folder + "/" + name, programs.path(name))
            // Hard links do not cross file systems, so copy the file.
            if link(source, place) != 0 { try FileManager.default.copyItem(atPath: source, toPath: place) }
        }
        let (status, output) = try self("--version")
        try #require(status == 0, "user \(Self.number) cannot run the programs: \(output)")
    }

    /// Changes the owner of the harness's folder back to the user who runs the tests, so that this
    /// process can use the store.
    func giveBack() throws {
        guard isNeeded else { return }
        let (status, output) = try CFixture.run(
            "/bin/chown", ["-hR", "\(getuid()):\(getgid())", command.harness.folder])
        try #require(status == 0, "\(output)")
    }

    /// Runs the command and returns both outputs together. Afterwards the harness's folder belongs
    /// to the unprivileged user.
    func callAsFunction(_ arguments: String...) throws -> (status: Int32, output: String) {
        var environment = try command.environment
        environment["SEARCHLIGHT"] = programs.path("searchlight")
        guard isNeeded else {
            return try CFixture.run(programs.path("searchlight"), arguments, environment: environment)
        }
        try #require(
            FileManager.default.isExecutableFile(atPath: Self.tool), "\(Self.tool) is missing; it is in util-linux.")
        let folder = command.harness.folder
        let (status, output) = try CFixture.run("/bin/chown", ["-hR", "\(Self.number):\(Self.number)", folder])
        try #require(status == 0, "\(output)")
        chmod(folder, 0o755)
        let user = "\(Self.number)"
        return try CFixture.run(
            Self.tool,
            ["--reuid", user, "--regid", user, "--clear-groups", programs.path("searchlight")] + arguments,
            environment: environment)
    }
}
