// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import SystemSupport

/// A test's `/proc`, which contains this process.
struct FakeProcesses {
    let folder: TemporaryFolder
    var root: String { folder.path("\(getpid())/root") }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    func writeInfo(_ text: String) throws { try folder.write(Array(text.utf8), to: "\(getpid())/root/.flatpak-info") }

    func writeLabel(_ text: String) throws {
        let attributes = folder.path("\(getpid())/attr")
        try FileManager.default.createDirectory(atPath: attributes, withIntermediateDirectories: true)
        try folder.write(Array(text.utf8), to: "\(getpid())/attr/current")
    }

    func identity() throws -> PeerIdentity { try PeerIdentity(of: socketPair().0, processes: folder.path) }

    func error() -> PeerIdentityError? {
        do {
            _ = try identity()
            return nil
        } catch { return error as? PeerIdentityError }
    }

    var isUndetermined: Bool {
        if case .undetermined = error() { true } else { false }
    }
}

@Suite("Identity of a peer", .timeLimit(.minutes(10)))
struct PeerIdentityTests {
    @Test("This process belongs to this user and has no Flatpak sandbox")
    func ownProcess() throws {
        let (socket, _) = try socketPair()
        let identity = try PeerIdentity(of: socket)
        #expect(identity.user == getuid())
        #expect(identity.process == getpid())
        #expect(identity.isAlive)
        #expect(identity.sandbox == .none)
    }

    @Test("The application comes from the sandbox's own file")
    func application() throws {
        let processes = try FakeProcesses()
        #expect(try processes.identity().sandbox == .none)
        try processes.writeInfo(KeyFileTests.usual)
        #expect(try processes.identity().sandbox == .flatpak(application: "org.gnome.Maps"))
    }

    @Test(
        "A file that does not clearly name an application is never treated as absent",
        arguments: [
            "", "[Runtime]\nname=org.gnome.Platform\n", "[Application]\nname=\n", "[Application]\nname=a/b.c\n",
            "[Application]\nname=a.b\nname=c.d\n", "name=a.b\n", "[Application]\nname=maps\n",
            "[Application]\nname=a..b\n", "[Application]\nname=a.1b\n",
            "[Application]\nname=a.\(String(repeating: "b", count: 255))\n",
            "[Application]\nname=a.b\n#\(String(repeating: "x", count: 64 << 10))",
        ])
    func doubtfulFile(text: String) throws {
        let processes = try FakeProcesses()
        try processes.writeInfo(text)
        #expect(processes.isUndetermined)
    }

    @Test("A link, a folder or a pipe instead of the file is neither followed nor waited for")
    func otherFiles() throws {
        let target = try TemporaryFolder()
        try target.write(Array("[Application]\nname=com.example.Other\n".utf8), to: "info")
        let linked = try FakeProcesses()
        try FileManager.default.createSymbolicLink(
            atPath: linked.root + "/.flatpak-info", withDestinationPath: target.path("info"))
        #expect(linked.isUndetermined)
        let dangling = try FakeProcesses()
        try FileManager.default.createSymbolicLink(
            atPath: dangling.root + "/.flatpak-info", withDestinationPath: "/nowhere")
        #expect(dangling.isUndetermined)
        let folder = try FakeProcesses()
        try FileManager.default.createDirectory(
            atPath: folder.root + "/.flatpak-info", withIntermediateDirectories: false)
        #expect(folder.isUndetermined)
        let pipe = try FakeProcesses()
        try #require(mkfifo(pipe.root + "/.flatpak-info", 0o600) == 0)
        #expect(pipe.isUndetermined)
    }

    @Test("A process without a root folder has ended")
    func noRoot() throws {
        let (socket, _) = try socketPair()
        let empty = try TemporaryFolder()
        #expect(throws: PeerIdentityError.gone(process: getpid())) {
            try PeerIdentity(of: socket, processes: empty.path)
        }
    }

    @Test("A strictly confined snap is identified by its label, others are not confined")
    func snap() throws {
        let processes = try FakeProcesses()
        try processes.writeLabel("snap.firefox.firefox (enforce)\n")
        #expect(try processes.identity().sandbox == .snap(name: "firefox"))
        try processes.writeLabel("snap.code.code (complain)\n")
        #expect(try processes.identity().sandbox == .none)
        try processes.writeLabel("unconfined\n")
        #expect(try processes.identity().sandbox == .none)
        try processes.writeLabel("snap. (enforce)")
        #expect(processes.isUndetermined)
    }

    @Test("An ended process has no identity, even if another one has its number")
    func endedProcess() throws {
        let input = Pipe()
        let child = try ChildProcess("/bin/cat", input: .pipe(input))
        let handle = try ProcessHandle(child.identifier, processes: "/proc")
        #expect(handle.isAlive)
        try input.fileHandleForWriting.close()
        child.wait()
        #expect(!handle.isAlive)
        // The folder of the process that now has the number.
        let processes = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: processes.path("\(handle.process)/root"), withIntermediateDirectories: true)
        #expect(throws: PeerIdentityError.gone(process: handle.process)) {
            try PeerIdentity(user: getuid(), handle: handle, processes: processes.path)
        }
    }

    @Test("Without process descriptors the start time distinguishes a process from a later one with its number")
    func startTime() throws {
        let processes = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: processes.path("7"), withIntermediateDirectories: false)
        func writeStat(_ state: String, _ time: Int) throws {
            let fields = ["7 (a) b) c)", state] + Array(repeating: "1", count: 18) + ["\(time)", "9"]
            try processes.write(Array(fields.joined(separator: " ").utf8), to: "7/stat")
        }
        #expect(throws: PeerIdentityError.gone(process: 7)) { try ProcessHandle(7, startTimeIn: processes.path) }
        try writeStat("S", 500)
        let handle = try ProcessHandle(7, startTimeIn: processes.path)
        #expect(handle.isAlive)
        try writeStat("Z", 500)
        #expect(!handle.isAlive)
        try writeStat("R", 501)
        #expect(!handle.isAlive)
        // The file of the running kernel has the expected format.
        #expect(try ProcessHandle(getpid(), startTimeIn: "/proc").isAlive)
    }
}
