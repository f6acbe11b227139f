// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import Promises

@Suite("Copying a file that fulfils a promise", .timeLimit(.minutes(10)))
struct FileCopyTests {
    private static func status(_ path: String) -> stat {
        var status = stat()
        #expect(stat(path, &status) == 0)
        return status
    }

    private static func deliver(
        _ path: String, to destination: String, control: DeliveryControl? = nil, digest: Bool = false
    ) throws -> DeliveryReport {
        try Delivery.deliver(
            .file(try FileReply(opening: path)), to: .file(path: destination), token: .random(in: .min ... .max),
            options: DeliveryOptions(control: control, wantsDigest: digest))
    }

    /// More than one chunk, so that an event can occur between two chunks.
    private static let longBytes = 40 << 20

    private static func long(in folder: TemporaryFolder) throws -> String {
        try folder.write([UInt8](repeating: 7, count: longBytes), to: "source")
    }

    @Test("Holes are preserved at the beginning, between data and at the end")
    func sparse() throws {
        let folder = try TemporaryFolder()
        let source = folder.path("source")
        let number = open(source, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(number) }
        #expect(pwrite(number, "middle", 6, 8 << 20) == 6)
        #expect(pwrite(number, "late", 4, 20 << 20) == 4)
        #expect(ftruncate(number, 64 << 20) == 0)
        let report = try Self.deliver(source, to: folder.path("out"))
        #expect(report.bytes == 64 << 20)
        let copy = Self.status(folder.path("out"))
        #expect(copy.st_size == 64 << 20)
        #expect(copy.st_blocks <= Self.status(source).st_blocks + 64)
        #expect(try folder.read("out") == folder.read("source"))
    }

    @Test("The time and the execute permission are kept; other users get the rights that they have for a new file")
    func attributes() throws {
        let folder = try TemporaryFolder()
        for (mode, expected) in [(0o600, 0o666), (0o4755, 0o777), (0o2640, 0o666)] as [(mode_t, mode_t)] {
            let source = try folder.write([1, 2], to: "source-\(mode)")
            #expect(chmod(source, mode) == 0)
            let moment = timespec(tv_sec: 1_000_000, tv_nsec: 5000)
            #expect([moment, moment].withUnsafeBufferPointer { utimensat(AT_FDCWD, source, $0.baseAddress, 0) } == 0)
            _ = try Self.deliver(source, to: folder.path("out-\(mode)"))
            let copy = Self.status(folder.path("out-\(mode)"))
            #expect(copy.st_mtim.tv_sec == 1_000_000)
            let plain = folder.path("plain-\(mode)")
            close(open(plain, O_WRONLY | O_CREAT | O_CLOEXEC, expected))
            #expect(copy.st_mode & 0o7777 == Self.status(plain).st_mode & 0o7777)
        }
    }

    @Test(
        "A file that shrinks or grows during the copy is reported, and nothing appears", arguments: [1 << 20, 48 << 20])
    func changes(length: Int) throws {
        let folder = try TemporaryFolder()
        let source = try Self.long(in: folder)
        let control = DeliveryControl { _ in truncate(source, off_t(length)) }
        let error = #expect(throws: PromiseError.self) {
            try Self.deliver(source, to: folder.path("out"), control: control)
        }
        // With shared blocks, the copy takes no time, so no event can occur.
        guard case .wrongLength(UInt64(Self.longBytes), let received)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(received != UInt64(Self.longBytes))
        #expect(try folder.names == ["source"])
    }

    @Test("A copy ends between two pieces after a cancellation, and nothing appears")
    func cancel() throws {
        let folder = try TemporaryFolder()
        let source = try Self.long(in: folder)
        let moved = Mutex<UInt64>(0)
        let reins = Mutex<DeliveryControl?>(nil)
        let control = DeliveryControl { bytes in
            moved.withLock { $0 += bytes }
            reins.withLock { $0 }?.cancel()
        }
        reins.withLock { $0 = control }
        #expect(throws: PromiseError.cancelled) {
            try Self.deliver(source, to: folder.path("out"), control: control)
        }
        #expect((1..<UInt64(Self.longBytes)).contains(moved.withLock { $0 }))
        #expect(try folder.names == ["source"])
        reins.withLock { $0 = nil }
    }

    @Test("A wait for a provider ends at once when it is cancelled")
    func cancelWait() throws {
        let folder = try TemporaryFolder()
        let (output, input) = try Pipe.ends()
        defer { input.end() }
        let control = DeliveryControl()
        onThread { control.cancel() }
        #expect(throws: PromiseError.cancelled) {
            try Delivery.deliver(
                .data(.stream(output, length: 3)), to: .file(path: folder.path("out")), token: 1,
                options: DeliveryOptions(control: control))
        }
        #expect(try folder.names.isEmpty)
    }

    @Test("Every byte that arrives is reported")
    func progress() throws {
        let folder = try TemporaryFolder()
        let moved = Mutex<UInt64>(0)
        let control = DeliveryControl { bytes in moved.withLock { $0 += bytes } }
        _ = try Self.deliver(try Self.long(in: folder), to: folder.path("out"), control: control)
        #expect(moved.withLock { $0 } == UInt64(Self.longBytes))
    }

    @Test("The digest of a file or a stream is the digest of its bytes")
    func digest() throws {
        let folder = try TemporaryFolder()
        let source = try folder.write(Array("abc".utf8), to: "source")
        let file = try Self.deliver(source, to: folder.path("out"), digest: true)
        let stream = try Delivery.deliver(
            .data(.stream(try Pipe.holding(Array("abc".utf8)), length: 3)), to: .file(path: folder.path("out2")),
            token: 3, options: DeliveryOptions(wantsDigest: true))
        #expect(file.digest == stream.digest)
        #expect(file.digest?.prefix(4) == [0xba, 0x78, 0x16, 0xbf])
        #expect(try Self.deliver(source, to: folder.path("out3")).digest == nil)
    }

    @Test("A device that fills up during the copy is reported, and nothing stays")
    func full() throws {
        let folder = try TemporaryFolder()
        // The limit on written bytes acts like a full device. This process can set it only in a
        // child.
        let source = try Self.long(in: folder)
        let number = open(source, O_RDONLY | O_CLOEXEC)
        defer { close(number) }
        let sink = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(sink) }
        var status = stat()
        #expect(fstat(number, &status) == 0)
        let output = ByteSink(sink, path: "full")
        let copy = FileCopy(source: number, status: status, output: output, pace: Pace(DeliveryLimits()))
        #expect(throws: PromiseError.inputOutput(operation: "Writing to", path: "full", code: ENOSPC)) {
            try copy.copy()
        }
    }
}

@Suite("The digest")
struct RunningDigestTests {
    private static func hexadecimal(_ pieces: [[UInt8]]) throws -> String {
        let digest = try RunningDigest()
        for piece in pieces { piece.withUnsafeBytes { digest.add($0) } }
        return digest.finish().map { String(format: "%02x", $0) }.joined()
    }

    /// The examples in FIPS 180-4 and from NIST.
    @Test(
        "is SHA-256",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func vectors(text: String, expected: String) throws {
        let bytes = Array(text.utf8)
        #expect(try Self.hexadecimal([bytes]) == expected)
        // The digest is the same for any division into chunks.
        #expect(try Self.hexadecimal(bytes.map { [$0] }) == expected)
    }

    @Test("is SHA-256 of a million bytes, in pieces of any length")
    func million() throws {
        let expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        for length in [997, 4096, 1_000_000] {
            var pieces = [[UInt8]](
                repeating: [UInt8](repeating: UInt8(ascii: "a"), count: length), count: 1_000_000 / length)
            pieces.append([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000 % length))
            #expect(try Self.hexadecimal(pieces) == expected)
        }
    }
}
