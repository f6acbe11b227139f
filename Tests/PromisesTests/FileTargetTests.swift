// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Promises
import Synchronization
import SystemSupport
import TestSupport
import Testing

@Suite("Targets of paths", .timeLimit(.minutes(10)))
struct FileTargetTests {
    private static func kind(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    @Test("A link is followed to its file, even if that does not exist yet, and stays a link")
    func links() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("inner"), withIntermediateDirectories: false)
        try folder.write([1, 2, 3], to: "inner/there")
        let links = [
            "link": "inner/there", "dangling": "inner/new", "absolute": folder.path("inner/other"), "second": "link",
        ]
        for (name, target) in links {
            try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
        }
        let ends = ["link": "inner/there", "dangling": "inner/new", "absolute": "inner/other", "second": "inner/there"]
        for (number, (name, end)) in ends.sorted(by: { $0.key < $1.key }).enumerated() {
            let bytes = [UInt8(number)]
            _ = try Delivery.deliver(.inline(bytes), to: .file(path: folder.path(name)), token: 1)
            #expect(Self.kind(folder.path(name)) == S_IFLNK)
            #expect(try folder.read(end) == bytes)
        }
        #expect(try folder.names == ["absolute", "dangling", "inner", "link", "second"])
    }

    @Test("Cycles of links and links into a missing folder are rejected")
    func badLinks() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.path("circle"), withDestinationPath: "circle")
        try FileManager.default.createSymbolicLink(atPath: folder.path("lost"), withDestinationPath: "missing/out")
        #expect(throws: PromiseError.inputOutput(operation: "Writing to", path: folder.path("circle"), code: ELOOP)) {
            try Delivery.deliver(.inline([9]), to: .file(path: folder.path("circle")), token: 2)
        }
        #expect(throws: PromiseError.missingFolder(path: folder.path("missing/"))) {
            try Delivery.deliver(.inline([9]), to: .file(path: folder.path("lost")), token: 2)
        }
        #expect(try folder.names == ["circle", "lost"])
    }

    @Test("A named pipe is written to, never replaced")
    func namedPipe() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let received = Mutex<[UInt8]>([])
        let done = DispatchSemaphore(value: 0)
        onThread {
            let reader = OwnedDescriptor(adopting: open(path, O_RDONLY | O_CLOEXEC))
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65536)
            while case let count = read(reader.number, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
            received.withLock { $0 = bytes }
            done.signal()
        }
        #expect(try Delivery.deliver(.inline(pattern(300_000)), to: .file(path: path), token: 3) == 300_000)
        done.wait()
        #expect(received.withLock { $0 } == pattern(300_000))
        #expect(Self.kind(path) == S_IFIFO)
        #expect(try folder.names == ["pipe"])
    }

    @Test("An unread pipe is waited for, up to the limit")
    func pipeWithoutReader() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let limits = DeliveryLimits(opening: .milliseconds(50))
        #expect(throws: PromiseError.noReceiver(path: path, after: limits.opening)) {
            try Delivery.deliver(.inline([1]), to: .file(path: path), token: 4, limits: limits)
        }
        #expect(Self.kind(path) == S_IFIFO)
    }

    @Test("A socket is connected to, never replaced")
    func socketFile() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("socket")
        let listener = OwnedDescriptor(adopting: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(listener.number, 1) == 0)
        #expect(try Delivery.deliver(.inline([4, 5]), to: .file(path: path), token: 5) == 2)
        let connection = OwnedDescriptor(adopting: accept(listener.number, nil, nil))
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(read(connection.number, &buffer, buffer.count) == 2)
        #expect(buffer.starts(with: [4, 5]))
        #expect(Self.kind(path) == S_IFSOCK)
    }
}
