// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import SystemSupport

@Suite("The service's socket", .timeLimit(.minutes(10)))
struct ServiceSocketTests {
    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status.st_mode
    }

    @Test("A client reaches the listener, and only this user may")
    func connection() throws {
        let folder = try TemporaryFolder()
        let listener = try ServiceSocket.listen(inFolder: folder.path)
        #expect(try mode(folder.path("socket")) == S_IFSOCK | 0o600)
        let client = try ServiceSocket.connect(inFolder: folder.path)
        let accepted = accept(listener.number, nil, nil)
        try #require(accepted >= 0)
        let server = OwnedDescriptor(adopting: accepted)
        #expect(write(client.number, "x", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(server.number, &byte, 1) == 1)
        #expect(fcntl(client.number, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(listener.number, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test("A path longer than a socket address works like any other", arguments: [80, 107, 108, 109, 200, 2000])
    func longPath(length: Int) throws {
        let root = try TemporaryFolder()
        var path = root.path
        while path.utf8.count + "/socket".utf8.count < length {
            let missing = length - path.utf8.count - "/socket".utf8.count
            path += "/" + String(repeating: "d", count: min(200, max(1, missing - 1)))
        }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let listener = try ServiceSocket.listen(inFolder: path)
        _ = try ServiceSocket.connect(inFolder: path)
        let accepted = accept(listener.number, nil, nil)
        #expect(accepted >= 0)
        close(accepted)
        // A service that has exited and is started again.
        let again = try ServiceSocket.listen(inFolder: path)
        _ = try ServiceSocket.connect(inFolder: path)
        #expect(again.number >= 0)
    }

    @Test("A missing folder or socket is distinguished from a socket without a listener")
    func absence() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("socket")
        #expect(throws: ServiceSocketError.absent(path: folder.path("none") + "/socket")) {
            try ServiceSocket.connect(inFolder: folder.path("none"))
        }
        #expect(throws: ServiceSocketError.absent(path: path)) { try ServiceSocket.connect(inFolder: folder.path) }
        do { _ = try ServiceSocket.listen(inFolder: folder.path) }
        #expect(throws: ServiceSocketError.nobodyListens(path: path)) {
            try ServiceSocket.connect(inFolder: folder.path)
        }
        try ServiceSocket.remove(inFolder: folder.path)
        #expect(throws: ServiceSocketError.absent(path: path)) { try ServiceSocket.connect(inFolder: folder.path) }
        try ServiceSocket.remove(inFolder: folder.path)
    }

    @Test("The socket of a dead service is replaced")
    func staleSocket() throws {
        let folder = try TemporaryFolder()
        do { _ = try ServiceSocket.listen(inFolder: folder.path) }
        let listener = try ServiceSocket.listen(inFolder: folder.path)
        _ = try ServiceSocket.connect(inFolder: folder.path)
        #expect(listener.number >= 0)
    }

    @Test("A file that is not a socket stays and is named", arguments: ["file", "folder", "link"])
    func otherFile(kind: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("socket")
        switch kind {
        case "file": try folder.write([1, 2], to: "socket")
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/hostname")
        }
        let error = ServiceSocketError.notASocket(path: path)
        #expect(throws: error) { try ServiceSocket.listen(inFolder: folder.path) }
        #expect(throws: error) { try ServiceSocket.connect(inFolder: folder.path) }
        #expect(throws: error) { try ServiceSocket.remove(inFolder: folder.path) }
        #expect(try folder.names == ["socket"])
        #expect(error.description.contains("Move it away"))
    }

    @Test("A folder without access is a matter of permissions", .enabled(if: getuid() != 0, "root may enter it"))
    func forbiddenFolder() throws {
        let folder = try TemporaryFolder()
        try #require(chmod(folder.path, 0) == 0)
        defer { chmod(folder.path, 0o700) }
        #expect(throws: ServiceSocketError.notPermitted(path: folder.path("socket"))) {
            try ServiceSocket.connect(inFolder: folder.path)
        }
    }

    @Test("An inherited listening socket is accepted, hidden from children, and nothing else is")
    func inheritance() throws {
        let folder = try TemporaryFolder()
        let listener = try ServiceSocket.listen(inFolder: folder.path)
        // A descriptor number far from those that other tests open and close at the same time.
        let number = fcntl(listener.number, F_DUPFD, 700)
        try #require(number >= 700)
        let variables = ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1"]
        #expect(try InheritedSocket.take(environment: [:], first: number) == nil)
        #expect(try InheritedSocket.take(environment: variables, process: 1, first: number) == nil)
        let taken = try #require(try InheritedSocket.take(environment: variables, first: number))
        #expect(taken.number == number)
        #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)

        let other = fcntl(listener.number, F_DUPFD, 720)
        let connected = try ServiceSocket.connect(inFolder: folder.path)
        try #require(dup2(connected.number, other) == other)
        #expect(throws: ServiceSocketError.self) { try InheritedSocket.take(environment: variables, first: other) }
        #expect(fcntl(other, F_GETFD) < 0)
        for text in ["x", "-1", "65"] {
            #expect(throws: ServiceSocketError.self) {
                try InheritedSocket.take(
                    environment: ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": text], first: number)
            }
        }
    }
}
