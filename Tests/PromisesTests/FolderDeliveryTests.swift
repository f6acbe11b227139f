// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Promises
import ServiceMessages
import SystemSupport
import TestSupport
import Testing

@Suite("Delivering a package folder", .timeLimit(.minutes(10)))
struct FolderDeliveryTests {
    private let folder: TemporaryFolder
    private var package: String { folder.path("note.rtfd") }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: package + "/images/small", withIntermediateDirectories: true)
        try folder.write(pattern(5000), to: "note.rtfd/TXT.rtf")
        try folder.write([9], to: "note.rtfd/images/small/one.png")
    }

    private func deliver(
        _ destination: Destination? = nil, _ options: DeliveryOptions = DeliveryOptions()
    ) throws -> DeliveryReport {
        try Delivery.deliver(
            .file(try FileReply(opening: package)), to: destination ?? .file(path: folder.path("out")), token: 11,
            options: options)
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: package + "/" + name, withDestinationPath: target)
    }

    /// Expects a rejection with this error, and no created file.
    private func expectRefusal(
        _ options: DeliveryOptions = DeliveryOptions(), _ isExpected: (PromiseError) -> Bool
    ) throws {
        let before = try folder.names
        let error = #expect(throws: PromiseError.self) { try deliver(nil, options) }
        #expect(error.map(isExpected) == true, "\(String(describing: error))")
        #expect(try folder.names == before)
    }

    @Test("It arrives with its content, and links that stay inside")
    func whole() throws {
        try link("images/again", to: "../TXT.rtf")
        try link("first", to: "images/small")
        try FileManager.default.createDirectory(atPath: package + "/empty", withIntermediateDirectories: true)
        let report = try deliver()
        #expect(report.bytes == 5001)
        #expect(report.path == folder.path("out"))
        #expect(try folder.read("out/TXT.rtf") == pattern(5000))
        #expect(try folder.read("out/images/again") == pattern(5000))
        #expect(try folder.read("out/first/one.png") == [9])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("out/first")) == "images/small")
        #expect(FileManager.default.fileExists(atPath: folder.path("out/empty")))
        #expect(try folder.names == ["note.rtfd", "out"])
    }

    @Test(
        "A link that leads outside is rejected, even through another link",
        arguments: ["/etc/passwd", "../secret", "images/../../secret", "images/..", "./../secret"])
    func links(target: String) throws {
        try link("link", to: target)
        try expectRefusal { if case .unsafeContent("note.rtfd/link", _) = $0 { true } else { false } }
    }

    @Test("A pipe or a socket in it is rejected, without waiting")
    func pipe() throws {
        #expect(mkfifo(package + "/images/pipe", 0o600) == 0)
        try expectRefusal { if case .unsafeContent("note.rtfd/images/pipe", _) = $0 { true } else { false } }
    }

    @Test("Cycles of links are copied as links")
    func circle() throws {
        try link("a", to: "b")
        try link("b", to: "a")
        try link("self", to: ".")
        _ = try deliver()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("out/a")) == "b")
    }

    @Test("Too many files, and folders nested too deeply, are rejected")
    func tooMany() throws {
        try expectRefusal(DeliveryOptions(tree: TreeLimits(entries: 3))) {
            if case .tooMany(_, "files", 3) = $0 { true } else { false }
        }
        try expectRefusal(DeliveryOptions(tree: TreeLimits(depth: 2))) {
            if case .tooMany("note.rtfd/images/small", _, 2) = $0 { true } else { false }
        }
        #expect(try deliver(nil, DeliveryOptions(tree: TreeLimits(entries: 4, depth: 3))).bytes == 5001)
    }

    @Test("At most 65,536 files are accepted unless the caller raises the limit")
    func standardLimit() throws {
        for number in 0..<65_540 { #expect(symlink("TXT.rtf", package + "/images/\(number)") == 0) }
        try expectRefusal { if case .tooMany("note.rtfd/images", _, 65_536) = $0 { true } else { false } }
    }

    @Test("Set-user-ID and set-group-ID bits are not copied")
    func setUser() throws {
        #expect(chmod(package + "/TXT.rtf", 0o6755) == 0)
        _ = try deliver()
        var status = stat()
        #expect(stat(folder.path("out/TXT.rtf"), &status) == 0)
        #expect(status.st_mode & 0o7000 == 0 && status.st_mode & 0o100 != 0)
    }

    @Test("A descriptor opened with O_PATH, or of the kernel's own files, is rejected")
    func descriptors() throws {
        let pathOnly: Int32 = 0o10000000
        for (path, flags) in [(package, pathOnly | O_DIRECTORY), ("/proc/self", O_RDONLY | O_DIRECTORY)] {
            let number = open(path, flags | O_CLOEXEC)
            try #require(number >= 0)
            let reply = FileReply(descriptor: OwnedDescriptor(adopting: number), name: "x")
            #expect(throws: PromiseError.self) {
                try Delivery.deliver(.file(reply), to: .file(path: folder.path("out")), token: 12)
            }
            #expect(throws: PromiseError.self) { try Delivery.length(of: .file(reply)) }
        }
        #expect(try folder.names == ["note.rtfd"])
    }

    @Test("It replaces nothing, and a stream cannot receive it")
    func existing() throws {
        try folder.write([1], to: "out")
        #expect(
            throws: PromiseError.inputOutput(operation: "Writing a folder to", path: folder.path("out"), code: EEXIST)
        ) {
            try deliver()
        }
        #expect(throws: PromiseError.inputOutput(operation: "Writing a folder to", path: "the output", code: EISDIR)) {
            try deliver(.stream(descriptor: STDOUT_FILENO))
        }
        #expect(try folder.names == ["note.rtfd", "out"])
        #expect(try folder.read("out") == [1])
    }

    @Test("A second folder of the same name gets a number")
    func numbers() throws {
        let name = FileName(title: "Note", fileExtension: "rtfd")
        for expected in ["Note.rtfd", "Note (2).rtfd", "Note (3).rtfd"] {
            #expect(try deliver(.folder(path: folder.path, name: name)).path == folder.path(expected))
        }
        #expect(try folder.names == ["Note (2).rtfd", "Note (3).rtfd", "Note.rtfd", "note.rtfd"])
    }

    @Test("It is not copied into itself")
    func intoItself() throws {
        let error = #expect(throws: PromiseError.self) { try deliver(.file(path: package + "/images/copy")) }
        guard case .unsafeContent? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: package + "/images") == ["small"])
    }

    @Test("A cancellation during the copy leaves nothing")
    func cancel() throws {
        let control = DeliveryControl()
        control.cancel()
        try expectRefusal(DeliveryOptions(control: control)) { $0 == .cancelled }
    }
}
