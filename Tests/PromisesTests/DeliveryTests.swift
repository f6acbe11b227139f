// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Promises
import Synchronization
import TestSupport
import Testing

@Suite("Delivering to a file", .timeLimit(.minutes(10)))
struct DeliveryTests {
    @Test("Bytes arrive unchanged, even no bytes", arguments: [0, 1, 4096, 65536, 300_000])
    func inline(count: Int) throws {
        let folder = try TemporaryFolder()
        let bytes = pattern(count)
        let delivered = try Delivery.deliver(.inline(bytes), to: .file(path: folder.path("out")), token: 1)
        #expect(delivered == UInt64(count))
        #expect(try folder.read("out") == bytes)
        #expect(try folder.names == ["out"])
    }

    @Test("A stream larger than the kernel's buffer arrives complete, and the file appears only at the end")
    func largeStream() throws {
        let folder = try TemporaryFolder()
        let bytes = pattern(1 << 20)
        let (output, input) = try Pipe.ends()
        let path = folder.path("out")
        let early = Observation()
        onThread {
            // Far more than a pipe's capacity: after this write, the delivery is in progress.
            input.send(Array(bytes[..<(1 << 19)]))
            early.set(FileManager.default.fileExists(atPath: path), (try? folder.names) ?? [])
            input.send(Array(bytes[(1 << 19)...]))
            input.end()
        }
        let delivered = try Delivery.deliver(
            .stream(output, length: UInt64(bytes.count)), to: .file(path: path), token: 2)
        #expect(delivered == UInt64(bytes.count))
        #expect(try folder.read("out") == bytes)
        #expect(try folder.names == ["out"])
        #expect(early.value.exists == false)
        // If the file system allows it, the file has no name until it is complete; otherwise it has
        // a hidden name.
        #expect(early.value.names.allSatisfy { $0.hasPrefix(".out.") && $0.hasSuffix(".part") })
    }

    private final class Observation: Sendable {
        private let state = Mutex((exists: true, names: [String]()))
        var value: (exists: Bool, names: [String]) { state.withLock { $0 } }
        func set(_ exists: Bool, _ names: [String]) { state.withLock { $0 = (exists, names) } }
    }

    @Test("A stream of the wrong length leaves nothing behind", arguments: [0, 9, 11, 60_000] as [Int])
    func wrongLength(count: Int) throws {
        let folder = try TemporaryFolder()
        let descriptor = try Pipe.holding(pattern(count))
        #expect {
            try Delivery.deliver(.stream(descriptor, length: 10), to: .file(path: folder.path("out")), token: 3)
        } throws: { error in
            guard case PromiseError.wrongLength(expected: 10, let received)? = error as? PromiseError else {
                return false
            }
            return received == UInt64(count)
        }
        #expect(try folder.names.isEmpty)
    }

    @Test("A stream of the wrong length keeps the existing file")
    func wrongLengthOverExisting() throws {
        let folder = try TemporaryFolder()
        try folder.write([1, 2, 3], to: "out")
        let descriptor = try Pipe.holding([4])
        #expect(throws: PromiseError.wrongLength(expected: 2, received: 1)) {
            try Delivery.deliver(.stream(descriptor, length: 2), to: .file(path: folder.path("out")), token: 4)
        }
        #expect(try folder.read("out") == [1, 2, 3])
        #expect(try folder.names == ["out"])
    }

    @Test(
        "A length that exceeds the free space is rejected before a file is created",
        arguments: [.max, .max - 1, 1 << 60])
    func noRoom(length: UInt64) throws {
        let folder = try TemporaryFolder()
        let descriptor = try Pipe.holding([1])
        #expect {
            try Delivery.deliver(.stream(descriptor, length: length), to: .file(path: folder.path("out")), token: 5)
        } throws: { error in
            guard case PromiseError.noRoom(_, length, let available)? = error as? PromiseError else { return false }
            return available < length
        }
        #expect(try folder.names.isEmpty)
    }

    @Test("An existing file is replaced")
    func replace() throws {
        let folder = try TemporaryFolder()
        try folder.write(pattern(100), to: "out")
        _ = try Delivery.deliver(.inline([7]), to: .file(path: folder.path("out")), token: 6)
        #expect(try folder.read("out") == [7])
    }

    @Test("A folder is rejected as destination, even behind a link, and nothing appears in it")
    func directory() throws {
        let folder = try TemporaryFolder()
        let inner = folder.path("inner")
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: inner)
        for path in [inner, inner + "/", inner + "/.", folder.path("link"), "/"] {
            #expect(throws: PromiseError.inputOutput(operation: "Writing to", path: path, code: EISDIR)) {
                try Delivery.deliver(.inline([1]), to: .file(path: path), token: 7)
            }
        }
        #expect(try folder.names == ["inner", "link"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: inner).isEmpty)
    }

    @Test("A missing folder is an error with its path", arguments: ["missing/out", "missing/deep/out"])
    func missingFolder(name: String) throws {
        let folder = try TemporaryFolder()
        #expect {
            try Delivery.deliver(.inline([1]), to: .file(path: folder.path(name)), token: 9)
        } throws: { error in
            let parent = folder.path(name).dropLast("out".count)
            return error as? PromiseError == .missingFolder(path: String(parent))
        }
        #expect(try folder.names.isEmpty)
    }

    @Test("File names are used unchanged", arguments: ["a b", ".hidden", "ünï", "-rf", "a\nb", "*", "%s"])
    func names(name: String) throws {
        let folder = try TemporaryFolder()
        _ = try Delivery.deliver(.inline([1]), to: .file(path: folder.path(name)), token: 11)
        #expect(try folder.names == [name])
    }

    @Test("Names of the file system's maximum length are accepted", arguments: ["x", "é", "👨‍👩‍👧‍👦"])
    func longNames(part: String) throws {
        let folder = try TemporaryFolder()
        let name = String(repeating: part, count: 255 / part.utf8.count)
        _ = try Delivery.deliver(.inline([1]), to: .file(path: folder.path(name)), token: .max)
        #expect(try folder.names == [name])
    }

    @Test("A path with a NUL is rejected, because the system would truncate it")
    func nul() throws {
        let folder = try TemporaryFolder()
        #expect(throws: PromiseError.self) {
            try Delivery.deliver(.inline([1]), to: .file(path: folder.path("out\0.txt")), token: 12)
        }
        #expect(try folder.names.isEmpty)
    }

    @Test("An empty path is rejected and leaves nothing in the current folder")
    func emptyPath() throws {
        #expect(throws: PromiseError.self) { try Delivery.deliver(.inline([1]), to: .file(path: ""), token: 13) }
        let names = try FileManager.default.contentsOfDirectory(atPath: ".")
        #expect(!names.contains { $0.hasSuffix(".part") })
    }

    @Test("Concurrent deliveries to one file leave one of them complete, and nothing else")
    func atOnce() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    let bytes = [UInt8](repeating: UInt8(number), count: 100_000 + number)
                    _ = try Delivery.deliver(.inline(bytes), to: .file(path: path), token: UInt64(number))
                }
            }
            try await group.waitForAll()
        }
        let bytes = try folder.read("out")
        let first = try #require(bytes.first)
        #expect(bytes == [UInt8](repeating: first, count: 100_000 + Int(first)))
        #expect(try folder.names == ["out"])
    }

    @Test("A folder that appears at the destination during a delivery stays, and no staging file does")
    func folderAppears() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out")
        let (output, input) = try Pipe.ends()
        onThread {
            input.send(pattern(1 << 19))
            try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            input.end()
        }
        #expect(throws: PromiseError.self) {
            try Delivery.deliver(.stream(output, length: 1 << 19), to: .file(path: path), token: 14)
        }
        #expect(try folder.names == ["out"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }
}
