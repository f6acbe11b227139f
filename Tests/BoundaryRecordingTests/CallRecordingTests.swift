// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchlightExtension
import ServiceMessages
import SystemSupport
import TestSupport
import Testing

@testable import BoundaryRecording

@Suite("The file of a recording")
struct CallRecordingTests {
    @Test("has each kind of event and of value, and reads them back")
    func roundTrip() throws {
        let recording = Samples.recording
        let read = try CallRecording(decoding: recording.encoded)
        #expect(read == recording)
        #expect(read.callCount == 5)
        #expect(recording.encoded.count < 400, "it is compact: \(recording.encoded.count) bytes")
    }

    @Test("is refused with the position if it is cut anywhere")
    func cut() {
        let bytes = Samples.recording.encoded
        for count in 0..<bytes.count {
            #expect(throws: RecordingError.self) { try CallRecording(decoding: Array(bytes.prefix(count))) }
        }
    }

    @Test("with an unknown version, or not a recording at all, is rejected with the reason")
    func foreign() {
        for (version, isNewer, advice) in [(UInt8(2), true, "newer Searchlight"), (0, false, "Record it again")] {
            var bytes = Samples.recording.encoded
            bytes[8] = version
            let error = #expect(throws: RecordingError.self) { try CallRecording(decoding: bytes) }
            #expect(error?.offset == 8 && error?.isNewer == isNewer)
            let words = error?.description ?? ""
            #expect(words.contains("version \(version)") && words.contains(advice), "\(words)")
        }
        #expect(throws: RecordingError(offset: 0, reason: "it does not begin as a recording")) {
            try CallRecording(decoding: Array("%PDF-1.7".utf8))
        }
        #expect(throws: RecordingError.self) { try CallRecording(decoding: Samples.recording.encoded + [0]) }
    }

    @Test(
        "with a bundle identifier that no manifest may have is refused",
        arguments: [
            "", "one", "../../../tmp/x", "a/b.c", "a..b", ".a", "a.b\0c", String(repeating: "a.", count: 128) + "b",
        ])
    func identifiers(_ bundle: String) {
        var recording = Samples.recording
        recording.bundle = bundle
        let error = #expect(throws: RecordingError.self) { try CallRecording(decoding: recording.encoded) }
        #expect(error?.reason == "its bundle identifier is no reverse-DNS name")
    }

    @Test("has a limit of values, because a value of one byte takes more memory")
    func values() throws {
        var reader = BoundaryReader([2, 0, 0, 1, 0], values: 3)
        #expect(try reader.list() == [.null, .null] && reader.values == 1)
        let error = #expect(throws: RecordingError.self) { try reader.list() + reader.list() }
        #expect(error?.reason == "it ends within an event")
        for body: [UInt8] in [[4, 0, 0, 0, 0], [2, 7, 2, 0, 0, 0], [1, 7, 1, 7, 1, 7, 1, 0]] {
            var reader = BoundaryReader(body[...], values: 3)
            let error = #expect(throws: RecordingError.self) { try reader.list() }
            #expect(error?.reason == "there are too many values")
        }
        // The list counts as a value too, so it exceeds the limit by one: 16,000,000 in LEB128.
        let count = CallRecording.maximumValues
        let digits: [UInt8] = [0x80, 0xC8, 0xD0, 0x07]
        #expect(digits.enumerated().reduce(0) { $0 | Int($1.element & 0x7F) << ($1.offset * 7) } == count)
        let event = [2, 1, 7] + digits + [UInt8](repeating: 0, count: count)
        var room = RecordingRoom()
        let size = UInt64(event.count)
        let length = (0..<4).map { UInt8(truncatingIfNeeded: size >> ($0 * 7)) & 0x7F | ($0 < 3 ? 0x80 : 0) }
        let large = #expect(throws: RecordingError.self) {
            try RecordedSession(written: length + event, ending: .finished, room: &room)
        }
        #expect(large?.reason == "there are too many values")
    }

    @Test("ends where the room for bytes, events or values ends, for all of its sessions together")
    func room() throws {
        let events = Samples.session.events
        let bytes = events.flatMap(\.encoded)
        let total = events.reduce(0) { $0 + $1.valueCount }
        let size = try #require(events.last).encoded.count
        let exact = RecordingRoom(bytes: bytes.count, events: events.count, values: total)
        for (room, kept) in [
            (exact, events.count),
            (RecordingRoom(bytes: bytes.count - size, events: 100, values: 100), events.count - 1),
            (RecordingRoom(bytes: 1000, events: 3, values: 100), 3),
            (RecordingRoom(bytes: 1000, events: 100, values: 1), 1),
        ] {
            var room = room
            let session = try RecordedSession(written: bytes, ending: .finished, room: &room)
            #expect(session.events.prefix(kept) == events.prefix(kept))
            #expect(session.isTruncated == (kept < events.count) && room.isFull == session.isTruncated)
            let next = try RecordedSession(written: bytes, ending: .finished, room: &room)
            #expect(next.events == [.truncated])
        }
    }

    @Test("with announced sizes beyond the file takes no memory for them")
    func hugeCounts() {
        let head = Array("SLRECORD".utf8) + [1, 0, 3] + Array("a.b".utf8) + [0]
        let most: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
        for rest in [
            most, [1, 0, 0] + most, [1, 0, 0, 1] + most, [1, 0, 0, 1, 14, 1, 1, 1, 0] + most,
            [1, 0, 0, 1, 15, 1, 1, 1, 0, 1, 3] + most, most + [0x7F],
        ] {
            #expect(throws: RecordingError.self) { try CallRecording(decoding: head + rest) }
        }
        let nested: [UInt8] = [3, 1, 0, 0x10] + [1] + [UInt8](repeating: 7, count: 40)
        #expect(throws: RecordingError.self) {
            try CallRecording(decoding: head + [1, 0, 0, 1, UInt8(nested.count)] + nested)
        }
    }

    @Test("with random damage is read or refused, and is the same after it was read")
    func damage() throws {
        struct Broken: Error {}
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: [Samples.recording.encoded])
        let readable = try loop.run(MutationLoop.inputs) { damaged in
            guard let read = try? CallRecording(decoding: damaged) else { return false }
            guard try CallRecording(decoding: read.encoded) == read else { throw Broken() }
            // Neither the comparison nor the scrubber relies on valid numbers.
            _ = RecordingComparison(read, Samples.recording)
            _ = Samples.scrubbed(read).encoded
            return true
        }
        #expect(readable > MutationLoop.inputs / 200, "seed \(MutationLoop.seed)")
    }

    @Test("that a worker was writing when it ended has all whole events")
    func unfinished() throws {
        let events = Samples.session.events
        let bytes = events.flatMap(\.encoded)
        let last = try #require(events.last?.encoded.count)
        func read(_ bytes: [UInt8], isCut: Bool = false) throws -> [BoundaryEvent] {
            var room = RecordingRoom()
            return try RecordedSession(written: bytes, isCut: isCut, ending: .signalled(11), room: &room).events
        }
        for cut in 1..<last { #expect(try read(Array(bytes.dropLast(cut))) == Array(events.dropLast())) }
        #expect(try read(bytes) == events)
        #expect(throws: RecordingError.self) { try read([2, 99, 0]) }
        // Nothing may follow the end; an event without content also marks the end.
        let truncated = events + [.truncated]
        #expect(try read(bytes + BoundaryEvent.truncated.encoded + bytes) == truncated)
        #expect(try read(bytes + [0]) == truncated && read(bytes, isCut: true) == truncated)
    }

    @Test("has requests that become the same requests again")
    func requests() {
        for request in Samples.requests {
            let call = request.boundaryCall(7)
            #expect(call.flatMap { WorkerRequest($0.kind, $0.arguments) } == request)
            // Every prefix of the arguments is rejected, or is decoded with the missing arguments
            // absent.
            for count in 0..<(call?.arguments.count ?? 0) {
                _ = call.flatMap { WorkerRequest($0.kind, Array($0.arguments.prefix(count))) }
            }
        }
        #expect(Samples.requests.allSatisfy { $0.boundaryCall(1) != nil })
        #expect(WorkerRequest.cancel(call: 1).boundaryCall(1) == nil)
    }

    @Test("names every function of the tables in the C header, in its order")
    func header() {
        let sizes: [(String, Int)] = [
            (SEARCHLIGHT_HOST_REQUEST, MemoryLayout<searchlight_host_request>.size),
            (SEARCHLIGHT_HOST_CANCEL, MemoryLayout<searchlight_host_cancel>.size),
            (SEARCHLIGHT_HOST_PROGRESS, MemoryLayout<searchlight_host_progress>.size),
            (SEARCHLIGHT_HOST_THREAD_CHECK, MemoryLayout<searchlight_host_thread_check>.size),
            (SEARCHLIGHT_HOST_ITEMS, MemoryLayout<searchlight_host_items>.size),
            (SEARCHLIGHT_HOST_CUSTOM_KEYS, MemoryLayout<searchlight_host_custom_keys>.size),
            (SEARCHLIGHT_HOST_INDEX, MemoryLayout<searchlight_host_index>.size),
            (SEARCHLIGHT_HOST_BATCH, MemoryLayout<searchlight_host_batch>.size),
            (SEARCHLIGHT_HOST_RENAME, MemoryLayout<searchlight_host_rename>.size),
            (SEARCHLIGHT_HOST_LISTING, MemoryLayout<searchlight_host_listing>.size),
            (SEARCHLIGHT_HOST_LOG, MemoryLayout<searchlight_host_log>.size),
            (SEARCHLIGHT_HOST_LEFT_OUT, MemoryLayout<searchlight_host_left_out>.size),
            (SEARCHLIGHT_HOST_CONTENT, MemoryLayout<searchlight_host_content>.size),
            (SEARCHLIGHT_HOST_PROTECTION, MemoryLayout<searchlight_host_protection>.size),
        ]
        #expect(BoundaryInterface.all.map(\.identifier) == sizes.map(\.0))
        for (interface, size) in zip(BoundaryInterface.all, sizes) {
            #expect(8 + 8 * interface.functions.count == size.1, "\(interface.identifier)")
        }
        let functions = BoundaryInterface.all.flatMap(\.functions)
        #expect(Set(functions.map(\.number)).count == functions.count)
        for function in functions { #expect(BoundaryInterface.function(function.number) == function) }
    }
}
