// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@Suite("searchlightd, the program", .timeLimit(.minutes(10)))
struct ProgramTests {
    @Test("Acknowledged items exist after a kill and a restart")
    func killed() async throws {
        let folder = try TemporaryFolder()
        let program = try await Program(folder: folder)
        let acknowledged = Collected()
        await withTaskGroup(of: Void.self) { group in
            for client in 0..<4 {
                group.addTask {
                    guard let app = try? await program.app() else { return }
                    for number in 0..<10_000 {
                        guard (try? await app.donate(["\(client)-\(number)"])) != nil else { return }
                        let count = acknowledged.add("\(client)-\(number)")
                        if count == 100 { program.send(SIGKILL) }
                    }
                }
            }
        }
        #expect(await program.wait() == 128 + SIGKILL)
        let again = try await Program(folder: folder)
        let app = try await again.app()
        var found: Set<String> = []
        var cursor: [UInt8] = []
        repeat {
            let page = try await app.query("title == '*'", cursor: cursor, limit: 1000)
            found.formUnion(page.identifiers)
            cursor = page.next
        } while !cursor.isEmpty
        #expect(acknowledged.all.isSubset(of: found))
        again.send(SIGTERM)
        #expect(await again.wait() == 0)
    }

    @Test("It ends in order at SIGTERM and SIGINT, and removes its socket", arguments: [SIGTERM, SIGINT])
    func signals(number: Int32) async throws {
        let folder = try TemporaryFolder()
        let program = try await Program(folder: folder)
        let app = try await program.app()
        try await app.donate(["a"])
        program.send(number)
        #expect(await program.wait() == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("store"))
        #expect(!files.contains("socket"))
        #expect(files.filter { $0.hasPrefix("index.") } == ["index.sqlite"], "The database is closed, too.")
        #expect(await eventually { !app.isConnected })
        #expect(program.output.contains("Ended"))
    }

    @Test("A second one for the same store names the first, and ends with 75")
    func second() async throws {
        let folder = try TemporaryFolder()
        let program = try await Program(folder: folder)
        let second = try await Program(folder: folder, waits: false)
        #expect(await second.wait() == 75)
        #expect(second.output.contains("\(program.process)"), "\(second.output)")
        let asked = "searchlight service status --store \(folder.path("store"))"
        #expect(second.output.contains(asked), "\(second.output)")
        let app = try await program.app()
        try await app.donate(["a"])
        program.send(SIGTERM)
        #expect(await program.wait() == 0)
    }

    @Test("It prints its version and options, and rejects unknown ones")
    func options() async throws {
        let folder = try TemporaryFolder()
        for (arguments, status) in [
            (["--help"], 0), (["--version"], 0), (["--idle-exit", "-1"], 64), (["--store", ""], 64), (["nonsense"], 64),
        ] as [([String], Int32)] {
            let program = try await Program(folder: folder, arguments: arguments, waits: false)
            #expect(await program.wait() == status, "\(arguments): \(program.output)")
            #expect(!program.output.isEmpty)
        }
    }

    @Test("It ends by itself with the option for it and without a client")
    func idleExit() async throws {
        let folder = try TemporaryFolder()
        let program = try await Program(folder: folder, arguments: ["--idle-exit", "1"])
        #expect(await program.wait() == 0)
        #expect(program.output.contains("no client was connected"))
    }

    @Test("An inherited socket is used, and not removed")
    func inherited() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path("store"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let activator = "/usr/bin/systemd-socket-activate"
        guard FileManager.default.isExecutableFile(atPath: activator) else {
            print("Skipped: \(activator) is not installed.")
            return
        }
        let arguments = [
            "--listen", folder.path("store/socket"), try Program.path("searchlightd"), "--store",
            folder.path("store"), "--no-session-bus", "--idle-exit", "1",
        ]
        async let outcome = Program.run(activator, arguments)
        // The socket file exists before its owner listens, and a refused connection would make the
        // program wait for another one.
        var connected: TestClient?
        #expect(
            await eventually {
                connected = try? TestClient(store: folder.path("store"))
                return connected != nil
            })
        let app = try #require(connected)
        try await app.hello(.app, bundle: "com.example.notes")
        try await app.donate(["a"])
        app.connection.close()
        let (status, _) = try await outcome
        #expect(status == 0)
        #expect(FileManager.default.fileExists(atPath: folder.path("store/socket")))
    }

    @Test("A client in a Flatpak sandbox has its sandbox's identity")
    func flatpak() async throws {
        let bubblewrap = "/usr/bin/bwrap"
        guard FileManager.default.isExecutableFile(atPath: bubblewrap) else {
            print("Skipped: \(bubblewrap) is not installed.")
            return
        }
        let folder = try TemporaryFolder()
        let program = try await Program(folder: folder)
        try folder.write(Array("[Application]\nname=org.gnome.Maps\n".utf8), to: "info")
        let client = try Program.path("ServiceClient")
        let sandbox =
            ["--ro-bind", "/usr", "/usr"]
            + ["lib", "lib64", "bin", "work", "home", "root", "opt"].flatMap { ["--ro-bind-try", "/\($0)", "/\($0)"] }
            + [
                "--proc", "/proc", "--bind", folder.path, folder.path, "--ro-bind", folder.path("info"),
                "/.flatpak-info", client, folder.path("store"),
            ]
        let (status, output) = try await Program.run(bubblewrap, sandbox + ["app", ""])
        if status != 0, output.contains("bwrap:") {
            print("Skipped: bubblewrap does not work here: \(output)")
        } else {
            #expect(output == "org.gnome.Maps\n")
            #expect(status == 0)
            let (lieStatus, lie) = try await Program.run(bubblewrap, sandbox + ["app", "com.example.notes"])
            #expect(lieStatus == 1)
            #expect(lie.contains(ServiceErrorName.accessDenied))
            let (shellStatus, shell) = try await Program.run(bubblewrap, sandbox + ["shell", ""])
            #expect(shellStatus == 1)
            #expect(shell.contains(ServiceErrorName.accessDenied))
        }
        program.send(SIGTERM)
        #expect(await program.wait() == 0)
    }

    @Test("Another user is rejected")
    func otherUser() async throws {
        guard getuid() == 0 else {
            print("Skipped: only root can be another user.")
            return
        }
        let folder = try TemporaryFolder()
        let program = try await Program(folder: folder)
        // With the most permissive modes: the kernel's peer credentials must suffice.
        for (name, mode) in [("", 0o755), ("store", 0o755), ("store/socket", 0o777)] as [(String, mode_t)] {
            try #require(chmod(folder.path(name), mode) == 0)
        }
        let (status, output) = try await Program.run(
            "/usr/bin/setpriv",
            [
                "--reuid", "65534", "--regid", "65534", "--clear-groups", try Program.path("ServiceClient"),
                folder.path("store"), "app", "com.example.notes",
            ])
        #expect(status != 0, "\(output)")
        #expect(!output.contains("com.example.notes\n"))
        #expect(await eventually { program.output.contains("runs as user 65534") }, "\(output)\(program.output)")
        program.send(SIGTERM)
        #expect(await program.wait() == 0)
    }
}
