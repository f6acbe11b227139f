// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("Watching for bundles", .timeLimit(.minutes(10)))
struct RegistryWatchTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns the changes one at a time.
    private struct Changes {
        let watch: DirectoryWatch
        let stream: AsyncStream<Void>

        init(_ searchPath: [String]) throws {
            let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            self.stream = stream
            watch = try DirectoryWatch(searchPath: searchPath) { continuation.yield() }
            #expect(watch.refresh().isEmpty)
        }

        /// Waits for the next change.
        func next() async {
            for await _ in stream { return }
        }
    }

    @Test("A bundle that is dropped in, written to, renamed and removed is noticed")
    func changes() async throws {
        let changes = try Changes([folder.path("a")])
        // The folder does not exist yet. The parent folder reports its creation.
        try FileManager.default.createDirectory(atPath: folder.path("a"), withIntermediateDirectories: true)
        await changes.next()
        changes.watch.refresh()
        let bundle = try PlainBundle("com.example.x", in: folder.path("a"))
        await changes.next()
        changes.watch.refresh()
        #expect(changes.watch.count == 2)
        try bundle.write([1], to: "library.so")
        await changes.next()
        rename(bundle.path, folder.path("a/com.example.y.searchext"))
        await changes.next()
        changes.watch.refresh()
        try FileManager.default.removeItem(atPath: folder.path("a/com.example.y.searchext"))
        await changes.next()
        try FileManager.default.removeItem(atPath: folder.path("a"))
        await changes.next()
        changes.watch.refresh()
        #expect(changes.watch.count == 1)
    }

    @Test("A directory below several missing levels is watched as soon as it exists")
    func levels() async throws {
        let changes = try Changes([folder.path("a/b/c")])
        for name in ["a", "a/b", "a/b/c"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
            await changes.next()
            changes.watch.refresh()
        }
        try PlainBundle("com.example.x", in: folder.path("a/b/c"))
        await changes.next()
    }

    private static func event(_ watch: Int32, _ mask: UInt32, _ name: String) -> [UInt8] {
        let padded = name.isEmpty ? [] : Array(name.utf8) + [UInt8](repeating: 0, count: 16 - name.utf8.count % 16)
        var bytes: [UInt8] = []
        for number in [UInt32(bitPattern: watch), mask, 0, UInt32(padded.count)] {
            bytes += [UInt8](withUnsafeBytes(of: number.littleEndian, Array.init))
        }
        return bytes + padded
    }

    @Test("Only relevant names count, and an overflow always does")
    func filters() {
        let filters: [Int32: DirectoryWatch.Filter] = [1: .bundles, 2: .anything, 3: .names(["share"])]
        func matters(_ events: [UInt8]...) -> Bool {
            DirectoryWatch.matters(events.joined().map { $0 }[...]) { filters[$0] }
        }
        let created = UInt32(IN_CREATE)
        #expect(!matters(Self.event(1, created, "notes.txt"), Self.event(3, created, "recently-used.xbel")))
        #expect(matters(Self.event(1, created, "notes.txt"), Self.event(1, created, "x.searchext")))
        #expect(matters(Self.event(2, created, "notes.txt")))
        #expect(matters(Self.event(3, created, "share")))
        #expect(matters(Self.event(3, UInt32(IN_DELETE_SELF), "")))
        #expect(!matters(Self.event(9, created, "x.searchext")), "a watch that was given up")
        #expect(matters(Self.event(-1, UInt32(IN_Q_OVERFLOW), "")))
        #expect(!matters([]))
        #expect(!matters(Array(Self.event(1, created, "x.searchext").prefix(15))))
    }

    @Test("Events of any form are read without harm")
    func fuzz() throws {
        let corpus = [Self.event(1, UInt32(IN_CREATE), "x.searchext") + Self.event(2, 8, "")]
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: corpus)
        _ = try loop.run(MutationLoop.inputs) { bytes in DirectoryWatch.matters(bytes[...]) { $0 == 1 ? .bundles : nil }
        }
    }

    @Test("It ends with its owner, and closes its descriptors")
    func end() async throws {
        let gone = AsyncStream<Void>.makeStream()
        final class Marker: Sendable {
            let onEnd: @Sendable () -> Void
            init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
            deinit { onEnd() }
        }
        do {
            let marker = Marker { gone.continuation.finish() }
            let watch = try DirectoryWatch(searchPath: [folder.path]) { withExtendedLifetime(marker) {} }
            watch.refresh()
        }
        // The thread releases its object when it exits.
        for await _ in gone.stream {}
    }

    @Test("Many changes are handled together, and changes during the handling are handled once more")
    func settling() async {
        let rounds = Mutex(0)
        let held = Mutex(0)
        let (acts, continuation) = AsyncStream<Int>.makeStream()
        let box = Mutex<Debouncer?>(nil)
        let settler = Debouncer(
            quiet: .milliseconds(1), clock: ContinuousClock(),
            hold: {
                held.withLock { $0 += 1 }
                return { held.withLock { $0 -= 1 } }
            },
            act: {
                let round = rounds.withLock { rounds in
                    rounds += 1
                    return rounds
                }
                // A change during the first round.
                if round == 1 { box.withLock { $0 }?.note() }
                continuation.yield(round)
            })
        box.withLock { $0 = settler }
        for _ in 0..<100 { settler.note() }
        var last = 0
        for await round in acts {
            last = round
            if round >= 2 { break }
        }
        #expect(last == 2)
        box.withLock { $0 = nil }
        settler.end()
    }
}
