// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Promises
import ServiceMessages
import SystemSupport
import TestSupport
import Testing

@Suite("Delivering a provider's file", .timeLimit(.minutes(10)))
struct FileReplyTests {
    /// O_PATH, which Swift does not import: the descriptor names a file but does not allow access
    /// to it.
    private static let pathOnly: Int32 = 0o10000000

    private static func open(_ path: String, _ flags: Int32 = O_RDONLY) throws -> OwnedDescriptor {
        let number = Glibc.open(path, flags | O_CLOEXEC)
        guard number >= 0 else { throw PromiseError.inputOutput(operation: "Opening", path: path, code: errno) }
        return OwnedDescriptor(adopting: number)
    }

    @Test("A file is copied completely, even if it is empty", arguments: [0, 1, 500_000])
    func copy(count: Int) throws {
        let folder = try TemporaryFolder()
        let bytes = pattern(count)
        let source = try folder.write(bytes, to: "source")
        let reply = FileReply(descriptor: try Self.open(source), name: "source")
        #expect(try Delivery.deliver(reply, to: .file(path: folder.path("out")), token: 1) == UInt64(count))
        #expect(try folder.read("out") == bytes)
        #expect(try folder.read("source") == bytes)
        #expect(try folder.names == ["out", "source"])
    }

    @Test("A file is copied from its beginning, at any position of the provider's descriptor")
    func offset() throws {
        let folder = try TemporaryFolder()
        let descriptor = try Self.open(folder.write(pattern(1000), to: "source"))
        #expect(lseek(descriptor.number, 300, SEEK_SET) == 300)
        let reply = FileReply(descriptor: descriptor, name: "source")
        #expect(try Delivery.deliver(reply, to: .file(path: folder.path("out")), token: 2) == 1000)
        #expect(try folder.read("out") == pattern(1000))
        #expect(lseek(descriptor.number, 0, SEEK_CUR) == 300)
    }

    @Test("A file can be delivered onto itself")
    func ontoItself() throws {
        let folder = try TemporaryFolder()
        let source = try folder.write(pattern(200_000), to: "source")
        let reply = FileReply(descriptor: try Self.open(source), name: "source")
        #expect(try Delivery.deliver(reply, to: .file(path: source), token: 3) == 200_000)
        #expect(try folder.read("source") == pattern(200_000))
        #expect(try folder.names == ["source"])
    }

    @Test("A special file, or one that is not open for reading, is rejected and nothing appears")
    func noFile() throws {
        let folder = try TemporaryFolder()
        let source = try folder.write([1], to: "source")
        let descriptors = [
            try Self.open(folder.path, O_DIRECTORY), try Self.open("/dev/zero"), try Pipe.holding([1]),
            try Self.open(source, O_WRONLY), try Self.open(source, Self.pathOnly), OwnedDescriptor(adopting: -1),
        ]
        for descriptor in descriptors {
            let reply = FileReply(descriptor: descriptor, name: "x")
            #expect(throws: PromiseError.self) {
                try Delivery.deliver(reply, to: .file(path: folder.path("out")), token: 4)
            }
        }
        #expect(try folder.names == ["source"])
    }
}
