// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// The `searchlight` command with the folders of a harness.
struct Command {
    let harness: Harness
    /// Additional environment variables.
    var variables: [String: String] = [:]

    /// Returns a command for a store with the three items of the notebook fixture.
    static func indexed() throws -> Command {
        let command = Command(harness: try Harness())
        _ = try command.harness.installFixture("notebook")
        let (status, output) = try command("reindex")
        try #require(status == 0, "\(output)")
        #expect(output.contains("com.example.notebook: 3 items indexed in "))
        return command
    }

    var environment: [String: String] {
        get throws {
            var environment = [
                "HOME": harness.folder, "XDG_CONFIG_HOME": harness.folder + "/config",
                "XDG_DATA_HOME": harness.folder + "/data", "XDG_DATA_DIRS": harness.folder + "/nothing",
                "SEARCHLIGHT_STORE": harness.store, "SEARCHLIGHT_EXTENSION_PATH": harness.extensions,
                "PATH": "/usr/bin:/bin", "SEARCHLIGHT": try BuiltProducts.program("searchlight"),
            ]
            environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
            return environment.merging(variables) { $1 }
        }
    }

    /// Runs the command. Returns standard output and standard error together.
    func callAsFunction(_ arguments: String...) throws -> (status: Int32, output: String) { try self(arguments) }

    func callAsFunction(_ arguments: [String]) throws -> (status: Int32, output: String) {
        try CFixture.run(try BuiltProducts.program("searchlight"), arguments, environment: try environment)
    }

    /// Runs the command. Returns standard output and standard error separately.
    func separately(_ arguments: String...) throws -> (status: Int32, output: String, errors: String) {
        let errors = harness.folder + "/errors"
        let (status, output) = try CFixture.run(
            "/bin/sh", ["-c", #""$SEARCHLIGHT" "$@" 2>"$0""#, errors] + arguments, environment: try environment)
        return (status, output, try String(contentsOfFile: errors, encoding: .utf8))
    }

    /// Runs a shell command line in the harness's folder. `$SEARCHLIGHT` is the program.
    func shell(_ line: String) throws -> (status: Int32, output: String) {
        try CFixture.run(
            "/bin/sh", ["-c", "cd \"$0\" && " + line, harness.folder], environment: try environment)
    }

    /// Runs the command with a terminal as standard output. Returns the terminal's output, which
    /// must fit into its buffer.
    func onTerminal(_ arguments: String..., columns: UInt16 = 0) throws -> (status: Int32, output: String) {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(terminal >= 0)
        defer { close(terminal) }
        // The ioctls of unlockpt and ptsname, which Swift does not import: TIOCSPTLCK and TIOCGPTN.
        var (unlocked, number): (Int32, UInt32) = (0, 0)
        try #require(ioctl(terminal, 0x4004_5431, &unlocked) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
        let name = "/dev/pts/\(number)"
        let side = try #require(FileHandle(forUpdatingAtPath: name))
        var size = winsize(ws_row: 0, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0)
        let ending = try ChildProcess(
            BuiltProducts.program("searchlight"), arguments, environment: environment, output: .file(side),
            errors: .nothing
        ).wait()
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        // Non-blocking: the other side is still open here, so reading an empty terminal would
        // block.
        _ = fcntl(terminal, F_SETFL, O_NONBLOCK)
        while case let count = read(terminal, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        try side.close()
        return (ending.status, String(decoding: bytes, as: UTF8.self))
    }

    func json(_ arguments: String..., expecting status: Int32 = 0) throws -> Any {
        let (found, output) = try CFixture.run(
            try BuiltProducts.program("searchlight"), arguments + ["--json"], environment: try environment)
        #expect(found == status, "\(output)")
        return try JSONSerialization.jsonObject(with: Data(output.utf8))
    }
}
