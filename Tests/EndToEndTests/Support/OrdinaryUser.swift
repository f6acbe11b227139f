// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// Runs the built command as a user without rights of their own, whoever runs the tests: root sees past much of what holds
/// others back, so that what is tried as root shows little.
///
/// The programs are in a folder of the test's own that everybody can read, since the user may not reach where they were built.
struct OrdinaryUser {
    /// A user that nobody is, and another for each run of the tests: what users have only so much of would be shared.
    private static let number = 60_600 + uid_t(getpid() % 4000)
    private static let tool = "/usr/bin/setpriv"
    private static let names = ["searchlight", "searchlight-worker", "libCoreSpotlight.so"]

    private let programs: TemporaryFolder
    private let command: Command
    private var isNeeded: Bool { getuid() == 0 }

    /// Prepares to run the command of a harness.
    ///
    /// - Throws: An expectation, if the user cannot run what was built: no test passes without having run.
    init(_ harness: Harness) throws {
        command = Command(harness: harness)
        programs = try TemporaryFolder()
        chmod(programs.path, 0o755)
        for name in Self.names {
            let (source, place) = (BuiltProducts.folder + "/" + name, programs.path(name))
            // On another file system it is copied.
            if link(source, place) != 0 { try FileManager.default.copyItem(atPath: source, toPath: place) }
        }
        let (status, output) = try self("--version")
        try #require(status == 0, "user \(Self.number) cannot run the programs: \(output)")
    }

    /// Makes all that is in the harness's folder the property of whoever runs the tests again, so that this process may use the store.
    func giveBack() throws {
        guard isNeeded else { return }
        let (status, output) = try CFixture.run(
            "/bin/chown", ["-hR", "\(getuid()):\(getgid())", command.harness.folder])
        try #require(status == 0, "\(output)")
    }

    /// Runs the command; both of its outputs come back together. All that is in the harness's folder is the user's then.
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
