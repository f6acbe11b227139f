// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import BusTransport

@Suite("Following the bytes of a peer")
struct FrameTrackerTests {
    private static let messages = [
        RawPeer.call(), RawPeer.call(serial: 2, body: [0, 0, 0, 0], signature: "ay"),
        RawPeer.call(serial: .max, member: "A", body: Array(repeating: 7, count: 3000), signature: "a{sv}"),
    ]

    /// Feeds bytes in reads of random sizes. Returns the ends of the messages, and the final state.
    private func follow(_ bytes: [UInt8], seed: UInt64, limits: BusLimits = BusLimits()) -> ([Int], BusEnd?) {
        var random = SplitMix64(seed: seed)
        var tracker = FrameTracker(sender: .client, limits: limits)
        var place = 0
        var ends: [Int] = []
        while place < bytes.count {
            let count = min(1 + random.below(tracker.wanted), bytes.count - place)
            let before = tracker.completed
            let slice = bytes[place..<(place + count)]
            do { try tracker.take(slice.span, descriptors: 0) } catch { return (ends, error) }
            place += count
            if tracker.completed > before { ends.append(place) }
        }
        return (ends, nil)
    }

    @Test("The ends of messages are found with any division of the bytes", arguments: 1...200 as ClosedRange<UInt64>)
    func ends(seed: UInt64) {
        let bytes = RawPeer.authentication + Self.messages.flatMap { $0 }
        var expected: [Int] = []
        var end = RawPeer.authentication.count
        for message in Self.messages {
            end += message.count
            expected.append(end)
        }
        let (ends, failure) = follow(bytes, seed: seed)
        #expect(ends == expected)
        #expect(failure == nil)
    }

    @Test("No read goes beyond the end of the authentication", arguments: 1...100 as ClosedRange<UInt64>)
    func authenticationEnd(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let lines = [
            "AUTH", "AUTH EXTERNAL 30", "DATA", "CANCEL", "BEGI", "BEGINS", "XBEGIN", "NEGOTIATE_UNIX_FD", "B", "",
        ]
        var text = "\0"
        for _ in 0..<random.below(6) { text += random.pick(lines) + "\r\n" }
        let client = Array((text + "BEGIN\r\n").utf8)
        let server = Array("DATA\r\nREJECTED EXTERNAL\r\nOK 0123456789abcdef\r\n\(random.pick(lines))\r\n".utf8)
        for (bytes, sender) in [(client, BusConnection.Side.client), (server, .server)] {
            var tracker = AuthenticationTracker(sender: sender, maximum: 1000)
            var place = 0
            while !tracker.isFinished {
                #expect(place + tracker.wanted <= bytes.count)
                let count = 1 + random.below(tracker.wanted)
                for byte in bytes[place..<min(bytes.count, place + count)] {
                    #expect(throws: Never.self) { try tracker.take(byte) }
                }
                place += count
            }
            #expect(place == bytes.count)
        }
    }

    @Test(
        "Every limit has a reason",
        arguments: [
            (RawPeer.authentication + [UInt8](repeating: 0x6C, count: 16), "kind"),
            (
                RawPeer.authentication + [0x6C, 1, 0, 1] + RawPeer.word(33 << 20) + RawPeer.word(1) + RawPeer.word(0),
                "34603008"
            ),
            (
                RawPeer.authentication + [0x6C, 1, 0, 1] + RawPeer.word(0) + RawPeer.word(1) + RawPeer.word(16 << 10),
                "header"
            ),
            (RawPeer.authentication + [0x6C, 1, 0, 1] + RawPeer.word(0) + RawPeer.word(0) + RawPeer.word(8), "serial"),
            (RawPeer.authentication + [0x6C, 1, 0, 2] + [UInt8](repeating: 0, count: 12), "version"),
            (RawPeer.authentication + [0x58, 1, 0, 1] + [UInt8](repeating: 0, count: 12), "byte order"),
            ([0x6C], "not zero"), ([0, 0x41, 0x0A], "not text"), ([0, 0x41, 0x0D, 0x41], "line"),
            ([0] + [UInt8](repeating: 0x41, count: 16 << 10), "authentication of more"),
        ] as [([UInt8], String)])
    func limits(bytes: [UInt8], word: String) {
        for seed in 1...10 as ClosedRange<UInt64> {
            let (_, failure) = follow(bytes, seed: seed)
            #expect(failure?.description.contains(word) == true, "\(String(describing: failure))")
        }
    }

    @Test("The number of descriptors matches the header, and they precede its end")
    func descriptors() throws {
        func follow(_ parts: [([UInt8], Int)]) throws {
            var tracker = FrameTracker(sender: .client, limits: BusLimits())
            for byte in RawPeer.authentication { try tracker.take([byte].span, descriptors: 0) }
            for (bytes, count) in parts { try tracker.take(bytes.span, descriptors: count) }
        }
        let message = RawPeer.call(body: RawPeer.word(0), signature: "h", descriptors: 1)
        let cut = message.count - 4
        try follow([(Array(message[..<16]), 1), (Array(message[16...]), 0)])
        try follow([(Array(message[..<16]), 0), (Array(message[16...]), 1)])
        #expect(throws: BusEnd.self) { try follow([(Array(message[..<16]), 0), (Array(message[16...]), 0)]) }
        #expect(throws: BusEnd.self) { try follow([(Array(message[..<16]), 1), (Array(message[16...]), 1)]) }
        #expect(throws: BusEnd.self) { try follow([(Array(message[..<cut]), 1), (Array(message[cut...]), 1)]) }
        #expect(throws: BusEnd.violated("a message with more than 2 descriptors")) {
            try follow([(Array(message[..<16]), 2), (Array(message[16...]), 1)])
        }
    }

    @Test("Damaged bytes give a reason or messages, the same with any division, and never trap")
    func mutations() throws {
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: Self.messages.map { RawPeer.authentication + $0.prefix(1900) },
            tokens: [Array("BEGIN\r\n".utf8), [1, 1, 0x6F, 0], [9, 1, 0x75, 0]])
        _ = try loop.run(MutationLoop.inputs) { input in
            let (ends, failure) = follow(input, seed: 1)
            let (otherEnds, otherFailure) = follow(input, seed: 2)
            struct Differs: Error {}
            guard ends == otherEnds, (failure == nil) == (otherFailure == nil) else { throw Differs() }
            return !ends.isEmpty
        }
    }
}
