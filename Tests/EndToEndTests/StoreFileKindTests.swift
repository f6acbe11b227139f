// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchIndex
import SystemSupport
import TestSupport
import Testing

@testable import SearchlightEngine

/// An object at the path of a file of a store.
enum ForeignObject: String, CaseIterable, Sendable {
    case pipe, link, danglingLink, folder, device, socket, secondName, otherOwner, writable

    /// Puts it at a path. `other` is a file outside of the store that must not change.
    func put(at path: String, other: String) throws {
        func check(_ code: Int32) throws {
            try #require(code == 0, "\(self) at \(path): \(String(cString: strerror(errno)))")
        }
        switch self {
        case .pipe: try check(mkfifo(path, 0o600))
        case .link: try check(symlink(other, path))
        case .danglingLink: try check(symlink(other + ".none", path))
        case .folder: try check(mkdir(path, 0o700))
        // /dev/zero, which is endless.
        case .device: try check(mknod(path, S_IFCHR | 0o600, dev_t(1 << 8 | 5)))
        case .socket: withExtendedLifetime(try StreamSocket.listen(at: path)) {}
        case .secondName: try check(Glibc.link(other, path))
        case .otherOwner:
            try Data("{}".utf8).write(to: URL(filePath: path))
            try check(chown(path, 12345, 12345))
        case .writable:
            try Data("{}".utf8).write(to: URL(filePath: path))
            try check(chmod(path, 0o666))
        }
    }

    /// Only root can create devices and other users' files.
    static var possible: [ForeignObject] {
        allCases.filter { geteuid() == 0 || ($0 != .device && $0 != .otherOwner) }
    }
}

@Suite("A store's file that was replaced by something else", .timeLimit(.minutes(10)))
struct StoreFileKindTests {
    /// All possible files of a store.
    static let names =
        StoreInspection.fileNames + StoreFolder.fileNames + [StoreLocation.socketName, "journal"]
        + ["journal.head", "journal.head.new", "0000000000000001.journal"].map { "journal/" + $0 }

    private static let content = "of somebody else\n"

    /// The programs that open a store: a reader, a writer, the service.
    private static let programs: [(name: String, arguments: [String])] = [
        ("searchlight", ["search", "pear"]), ("searchlight", ["reindex"]),
        ("searchlightd", ["--idle-exit", "1", "--no-session-bus"]),
    ]

    @Test("is reported by each program with the remedy, without waiting and without a change", arguments: names)
    func matrix(name: String) throws {
        let command = try Command.indexed()
        let path = command.harness.store + "/" + name
        let kept = command.harness.folder + "/kept"
        let other = command.harness.folder + "/other"
        try Data(Self.content.utf8).write(to: URL(filePath: other))
        if access(path, F_OK) == 0 { try FileManager.default.moveItem(atPath: path, toPath: kept) }
        for object in ForeignObject.possible {
            // The object is required there.
            if name == "socket", [.socket, .writable].contains(object) { continue }
            if name == "journal", object == .folder { continue }
            try object.put(at: path, other: other)
            var before = stat()
            try #require(lstat(path, &before) == 0)
            for (program, arguments) in Self.programs {
                let (status, output) = try CFixture.run(
                    "/usr/bin/timeout", ["-k", "1", "20", try BuiltProducts.program(program)] + arguments,
                    environment: try command.environment)
                #expect(status == 8, "\(object) \(name), \(program): \(output)")
                #expect(output.contains(path), "\(object), \(program): \(output)")
                let advice = ["Move it away", "Use a store of your own", "chmod go-w", "Copy it"]
                #expect(
                    advice.contains { output.contains($0) },
                    "\(object), \(program): \(output)")
                var after = stat()
                #expect(lstat(path, &after) == 0 && after.st_ino == before.st_ino, "\(object) \(name), \(program)")
            }
            #expect(try String(contentsOfFile: other, encoding: .utf8) == Self.content, "\(object) \(name)")
            #expect(access(other + ".none", F_OK) != 0, "\(object) \(name)")
            try FileManager.default.removeItem(atPath: path)
        }
        if access(kept, F_OK) == 0 { try FileManager.default.moveItem(atPath: kept, toPath: path) }
        #expect(try command("search", "pear").status == 0)
    }

    @Test("is on the list of all files that real runs leave")
    func all() async throws {
        var command = try Command.indexed()
        _ = try CFixture.run(
            try BuiltProducts.program("searchlightd"), ["--idle-exit", "1", "--no-session-bus"],
            environment: try command.environment)
        // Without systemd, so that setup enables no service.
        command.variables["PATH"] = "/nonexistent"
        try command.harness.install(
            "com.example.watched", library: try CFixture.library("notebook"),
            manifest: ["Searchlight": ["ReadablePaths": ["~/Notes"], "WatchedPaths": true]])
        try FileManager.default.createDirectory(
            atPath: command.harness.folder + "/Notes", withIntermediateDirectories: true)
        for arguments in [["setup", "--yes"], ["update"], ["access", "grant", "helper", "com.example.notebook"]] {
            _ = try command(arguments)
        }
        _ = try await command.outcome(
            ["mcp"],
            input: """
                {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",\
                "capabilities":{},"clientInfo":{"name":"helper","version":"1"}}}
                {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"pear"}}}

                """)
        _ = try command("verify", "--repair")
        let found = Set(try FileManager.default.contentsOfDirectory(atPath: command.harness.store))
        #expect(found.subtracting(Self.names).isEmpty)
        #expect(
            found.isSuperset(of: [
                "assistants.json", "assistants.json.lock", "assistants.log", "files.sqlite", "index.sqlite",
            ]))
    }

    @Test("while a service has it open does not make it wait or write elsewhere")
    func later() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        let other = harness.folder + "/other"
        try Data(Self.content.utf8).write(to: URL(filePath: other))
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            for object in ForeignObject.possible where object != .folder {
                for name in StoreInspection.fileNames + ["suspect"] where name != "lock" {
                    let path = harness.store + "/" + name
                    _ = try? FileManager.default.removeItem(atPath: path)
                    try object.put(at: path, other: other)
                }
                _ = try? await engine.reindexAll(bundle)
                #expect(try await engine.search("pear", bundle: nil, limit: 1).total >= 0)
                #expect(try String(contentsOfFile: other, encoding: .utf8) == Self.content, "\(object)")
            }
        }
        #expect(try String(contentsOfFile: other, encoding: .utf8) == Self.content)
    }

    @Test("with a name from a repair is a normal trace of a crash, and no reason to stop")
    func setAside() throws {
        let command = try Command.indexed()
        for name in ["jobs.json", "index.sqlite"] {
            let path = command.harness.store + "/" + name
            try #require(link(path, path + ".damaged") == 0)
        }
        #expect(try command("search", "pear").status == 0)
        #expect(try command("reindex").status == 0)
    }
}

@Suite("A store's folder")
struct StoreFolderOwnerTests {
    private static let asRoot: Comment = "only root can give folders away"

    private func refusal(_ command: Command, _ store: String) throws -> String {
        var command = command
        command.variables["SEARCHLIGHT_STORE"] = store
        var text = ""
        for (program, arguments) in [
            ("searchlight", ["search", "x"]), ("searchlight", ["reindex"]),
            ("searchlightd", ["--idle-exit", "1", "--no-session-bus"]),
        ] {
            let (status, output) = try CFixture.run(
                "/usr/bin/timeout", ["-k", "1", "20", try BuiltProducts.program(program)] + arguments,
                environment: try command.environment)
            #expect(status == 8, "\(program): \(output)")
            text = output
        }
        return text
    }

    @Test("that belongs to another user is not used", .enabled(if: geteuid() == 0, asRoot))
    func otherOwner() throws {
        let command = try Command.indexed()
        try #require(chown(command.harness.store, 12345, 12345) == 0)
        #expect(try refusal(command, command.harness.store).contains("belongs to user 12345"))
    }

    @Test("that others may write to is not used", arguments: [0o777, 0o1777, 0o722] as [mode_t])
    func writable(mode: mode_t) throws {
        let command = try Command.indexed()
        try #require(chmod(command.harness.store, mode) == 0)
        #expect(try refusal(command, command.harness.store).contains("chmod go-w"))
    }

    @Test("on a path that others may change is not used, and none is created there")
    func writableParent() throws {
        let command = try Command.indexed()
        let open = command.harness.folder + "/open"
        try #require(mkdir(open, 0o700) == 0 && chmod(open, 0o777) == 0)
        #expect(try refusal(command, open + "/deep/store").contains(open))
        #expect(try FileManager.default.contentsOfDirectory(atPath: open).isEmpty)
        // As in /tmp, other users cannot remove existing files.
        try #require(chmod(open, 0o1777) == 0)
        var other = command
        other.variables["SEARCHLIGHT_STORE"] = open + "/deep/store"
        #expect(try other("reindex").status == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: open + "/deep")[.posixPermissions] as? Int == 0o700)
    }

    @Test("that is a link of this user to a folder of this user is used")
    func ownLink() throws {
        let command = try Command.indexed()
        let link = command.harness.folder + "/link"
        try #require(symlink(command.harness.store, link) == 0)
        var other = command
        other.variables["SEARCHLIGHT_STORE"] = link
        #expect(try other("search", "pear").status == 0)
        #expect(try other("reindex").status == 0)
    }

    @Test("that is another user's link is not used", .enabled(if: geteuid() == 0, asRoot))
    func otherLink() throws {
        let command = try Command.indexed()
        let link = command.harness.folder + "/link"
        try #require(symlink(command.harness.store, link) == 0 && lchown(link, 12345, 12345) == 0)
        #expect(try refusal(command, link).contains("belongs to user 12345"))
    }

    @Test("with another user's service receives no data", .enabled(if: geteuid() == 0, asRoot))
    func otherServer() throws {
        let command = try Command.indexed()
        let folder = try TemporaryFolder()
        let user: uid_t = 12346
        try #require(chown(folder.path, user, user) == 0)
        let path = folder.path("socket")
        let script = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print("up", flush=True)
            for i in range(2):
                c, _ = s.accept(); c.settimeout(5); print("heard", c.recv(10), flush=True)
            """
        let output = Pipe()
        let server = try ChildProcess(
            "/usr/bin/setpriv",
            ["--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", "/usr/bin/python3", "-c", script, path],
            output: .pipe(output))
        #expect(String(decoding: output.fileHandleForReading.readData(ofLength: 3), as: UTF8.self) == "up\n")
        #expect(throws: ServiceSocketError.anotherUser(path: path, user: user)) {
            try ServiceSocket.connect(inFolder: folder.path)
        }
        var other = command
        other.variables["SEARCHLIGHT_STORE"] = folder.path
        let (status, text) = try other("search", "pear")
        #expect(status == 8 && text.contains("user \(user)"), "\(text)")
        let heard = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(heard == "heard b''\nheard b''\n")
        server.wait()
    }
}
