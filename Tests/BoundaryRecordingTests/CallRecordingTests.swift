// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import ItemRecord
import SearchlightExtension
import ServiceMessages
import SystemSupport
import TestSupport
import Testing

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

    @Test("of another version, or of anything else, is refused with the reason")
    func foreign() {
        var bytes = Samples.recording.encoded
        bytes[8] = 2
        #expect(throws: RecordingError(offset: 8, reason: "its version is unknown")) {
            try CallRecording(decoding: bytes)
        }
        #expect(throws: RecordingError(offset: 0, reason: "it does not begin as a recording")) {
            try CallRecording(decoding: Array("%PDF-1.7".utf8))
        }
        #expect(throws: RecordingError.self) { try CallRecording(decoding: Samples.recording.encoded + [0]) }
    }

    @Test("with announced sizes beyond the file takes no memory for them")
    func hugeCounts() {
        let head = Array("SLRECORD".utf8) + [1, 0, 0, 0]
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
        let bytes = Samples.recording.encoded
        var random = SplitMix64(seed: 34)
        var readable = 0
        for _ in 0..<20_000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: 9..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let read = try? CallRecording(decoding: damaged) else { continue }
            readable += 1
            #expect(try CallRecording(decoding: read.encoded) == read)
            // Neither the comparison nor the scrubber relies on valid numbers.
            _ = RecordingComparison(read, Samples.recording)
            _ = RecordingScrubber.scrubbed(read).encoded
        }
        #expect(readable > 100)
    }

    @Test("that a worker was writing when it ended has all whole events")
    func unfinished() throws {
        let events = Samples.session.events
        let bytes = events.flatMap(\.encoded)
        let last = try #require(events.last?.encoded.count)
        for cut in 1..<last {
            let session = try RecordedSession(written: Array(bytes.dropLast(cut)), ending: .signalled(11))
            #expect(session.events == Array(events.dropLast()))
        }
        #expect(try RecordedSession(written: bytes, ending: .finished).events == events)
        #expect(throws: RecordingError.self) { try RecordedSession(written: [2, 99, 0], ending: .finished) }
    }

    @Test("has requests that become the same requests again")
    func requests() {
        for request in Samples.requests {
            let call = request.boundaryCall(7)
            #expect(call.flatMap { WorkerRequest($0.kind, $0.arguments) } == request)
            // Every prefix of the arguments is refused or has the rest absent.
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
