// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import Glibc
import SystemSupport
import Testing

@testable import ExtensionRuntime

@Suite("The log of a recorded worker")
struct BoundaryLogTests {
    /// `MFD_CLOEXEC`
    private static let closeOnExec: UInt32 = 1
    /// `MFD_ALLOW_SEALING`
    private static let allowSealing: UInt32 = 2
    /// `F_ADD_SEALS`
    private static let addSeals: Int32 = 1033
    /// `F_SEAL_WRITE`
    private static let sealWrite: Int32 = 8

    /// Returns an empty file without a name, which can be sealed.
    private func file() throws -> OwnedDescriptor {
        // Swift's Glibc module lacks this function.
        typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
        let create = try #require(dlsym(nil, "memfd_create"))
        let number = unsafeBitCast(create, to: Create.self)("log", Self.closeOnExec | Self.allowSealing)
        try #require(number >= 0)
        return OwnedDescriptor(adopting: number)
    }

    private func events(_ file: OwnedDescriptor) throws -> [BoundaryEvent] {
        var status = stat()
        try #require(fstat(file.number, &status) == 0)
        let bytes = try WholeTransfer.bytes(of: file.number, upTo: Int(status.st_size), at: 0)
        var room = RecordingRoom()
        return try RecordedSession(written: bytes, ending: .finished, room: &room).events
    }

    private let folders = RecordedFolders(temporary: nil, bundle: "/b", home: nil)

    @Test("ends with the mark of missing events where its room ends")
    func full() throws {
        let file = try file()
        let log = BoundaryLog(file, folders, room: RecordingRoom(events: 2))
        for request in 1...5 { log.cancelled(UInt64(request)) }
        #expect(try events(file) == [.cancelled(request: 1), .cancelled(request: 2), .truncated])
    }

    @Test("that can no longer be written ends with the mark of missing events")
    func unwritable() throws {
        let file = try file()
        let log = BoundaryLog(file, folders)
        log.cancelled(1)
        // Writing fails now, as on a full disk.
        try #require(fcntl(file.number, Self.addSeals, Self.sealWrite) == 0)
        for request in 2...4 { log.cancelled(UInt64(request)) }
        #expect(try events(file) == [.cancelled(request: 1), .truncated])
    }
}

@Suite("The memory of recorded arguments")
struct ArgumentMemoryTests {
    private func words(_ interface: String, _ name: String, _ values: [BoundaryValue], _ memory: ArgumentMemory) throws
        -> [UInt64]
    {
        let functions = BoundaryInterface.all.first { $0.identifier == interface }?.functions ?? []
        let function = try #require(functions.first { $0.name == name })
        return memory.words(function, values, object: { _ in nil }) { _ in
            (UnsafeRawPointer(bitPattern: 8)!, UnsafeRawPointer(bitPattern: 8)!)
        }
    }

    private func array(_ word: UInt64) throws -> UnsafePointer<UnsafePointer<CChar>?> {
        try #require(UnsafePointer(bitPattern: UInt(word)))
    }

    @Test("has all elements of an array that the recording calls unread")
    func unread() throws {
        let memory = ArgumentMemory()
        let count = 1_000_000
        for value in [BoundaryValue.unread(count: Int64(count), isNull: false)] {
            let texts = try words(
                "searchlight.index/1", "delete_items", [.object(nil, 0), .null, value, .null], memory)
            #expect(texts[3] == UInt64(count))
            let elements = try array(texts[2])
            #expect((0..<count).allSatisfy { elements[$0] == nil })
            let bytes = try words("searchlight.items/1", "set_data", [.object(.item, 1), .null, value], memory)
            let content = UnsafeRawBufferPointer(start: try array(bytes[2]), count: Int(bytes[3]))
            #expect(content.count == count && content.allSatisfy { $0 == 0 })
        }
        for count in [Int64.max, 1 << 60] {
            let value = BoundaryValue.unread(count: count, isNull: false)
            let bytes = try words("searchlight.items/1", "set_data", [.object(.item, 1), .null, value], memory)
            #expect(bytes[2] == 0 && bytes[3] == UInt64(count), "there is no such memory")
        }
        // The host rejects these lengths, so the recorded address is from this call.
        for count in [Int64(-1), .min] {
            let value = BoundaryValue.unread(count: count, isNull: false)
            let bytes = try words("searchlight.items/1", "set_data", [.object(.item, 1), .null, value], memory)
            #expect(bytes[2] != 0 && bytes[3] == UInt64(bitPattern: count))
        }
    }

    @Test("fills up the shorter one of two arrays with one length")
    func pairs() throws {
        let memory = ArgumentMemory()
        let names = BoundaryValue.list((1...1000).map { BoundaryValue("\($0)") })
        for (old, new) in [
            (BoundaryValue.list([BoundaryValue("a")]), names), (names, .list([])),
            (.unread(count: 1000, isNull: false), .list([])), (.list([]), .unread(count: 1000, isNull: false)),
        ] {
            let pair = try words(
                "searchlight.rename/1", "rename_in_batch", [.object(.batch, 1), .list([old, new])], memory)
            #expect(pair[3] == 1000)
            for word in pair[1...2] {
                let elements = try array(word)
                let present = (0..<1000).filter { elements[$0] != nil }
                #expect(present == Array(0..<present.count))
            }
        }
    }
}
