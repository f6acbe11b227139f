// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Promises

/// A file that has a hidden name, or no name, until it is complete: both forms on any file system.
@Suite("A staged file", .timeLimit(.minutes(10)))
struct StagingTests {
    private static func stage(_ path: String, anonymous: Bool, _ bytes: [UInt8] = [7]) throws -> StagedFile {
        guard case .regular(let target, let existing) = try FileTarget.find(path) else {
            throw PromiseError.inputOutput(operation: "Staging", path: path, code: EINVAL)
        }
        let staged = try StagedFile.create(for: target, existing: existing, token: 10, isAnonymous: anonymous)
        let sink = ByteSink(staged.number, path: path)
        try bytes.withUnsafeBytes { try sink.write($0) }
        return staged
    }

    private static func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test("appears when it is committed, new or as a replacement", arguments: [false, true])
    func commit(anonymous: Bool) throws {
        let folder = try TemporaryFolder()
        for bytes in [[1, 2], [3]] as [[UInt8]] {
            try Self.stage(folder.path("out"), anonymous: anonymous, bytes).commit()
            #expect(try folder.read("out") == bytes)
            #expect(try folder.names == ["out"])
        }
    }

    @Test("leaves nothing when it is discarded", arguments: [false, true])
    func giveUp(anonymous: Bool) throws {
        let folder = try TemporaryFolder()
        do { _ = try Self.stage(folder.path("out"), anonymous: anonymous) }
        #expect(try folder.names.isEmpty)
    }

    @Test("is removed when the process ends in order")
    func removal() throws {
        let folder = try TemporaryFolder()
        let staged = try Self.stage(folder.path("out"), anonymous: false)
        #expect(try folder.names == [".out.a.part"])
        // Checks only the files of this test, because other tests stage files at the same time.
        UnfinishedFiles.removeAll(below: folder.path)
        #expect(try folder.names.isEmpty)
        var failed = false
        do { try staged.commit() } catch { failed = true }
        #expect(failed)
        #expect(try folder.names.isEmpty)
    }

    @Test("has the mode of the umask, or of the replaced file", arguments: [false, true])
    func modes(anonymous: Bool) throws {
        let folder = try TemporaryFolder()
        try Self.stage(folder.path("out"), anonymous: anonymous).commit()
        let plain = open(folder.path("plain"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        close(plain)
        #expect(Self.mode(folder.path("out")) == Self.mode(folder.path("plain")))
        for mode in [0o600, 0o640, 0o755] as [mode_t] {
            #expect(chmod(folder.path("out"), mode) == 0)
            try Self.stage(folder.path("out"), anonymous: anonymous).commit()
            #expect(Self.mode(folder.path("out")) == mode)
        }
    }

    @Test("does not replace a file that appears during an interrupted rename", arguments: [false, true])
    func appearsMeanwhile(anonymous: Bool) throws {
        let folder = try TemporaryFolder()
        let staged = try Self.stage(folder.path("out"), anonymous: anonymous, [1])
        try folder.write([2], to: "out")
        try staged.commit()
        #expect(try folder.read("out") == [1])
        #expect(try folder.names == ["out"])
    }

    @Test("leaves existing files unchanged")
    func stagingInTheWay() throws {
        let folder = try TemporaryFolder()
        try folder.write([5], to: "target")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(".out.a.part"), withDestinationPath: folder.path("target"))
        #expect(throws: PromiseError.inputOutput(operation: "Creating a file in", path: folder.path(""), code: EEXIST))
        {
            _ = try Self.stage(folder.path("out"), anonymous: false)
        }
        #expect(try folder.read("target") == [5])
        #expect(try folder.names == [".out.a.part", "target"])
    }
}
