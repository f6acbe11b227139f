// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import TestSupport

/// Work that a user waits for.
protocol ForegroundWork: Sendable {
    /// Works for the given time.
    ///
    /// - Returns: The rates of completed rounds.
    func run(for span: Duration) throws -> RoundsDone
}

/// The rates of completed rounds.
struct RoundsDone {
    /// The number of rounds per second.
    var rate = 0.0
    /// The number of rounds per second, in each half second.
    var halves: [Double] = []

    /// Returns the sum of two concurrent results.
    static func + (left: RoundsDone, right: RoundsDone) -> RoundsDone {
        let count = max(left.halves.count, right.halves.count)
        func half(_ done: RoundsDone, _ number: Int) -> Double { number < done.halves.count ? done.halves[number] : 0 }
        return RoundsDone(
            rate: left.rate + right.rate, halves: (0..<count).map { half(left, $0) + half(right, $0) })
    }
}

/// Counts rounds until the time is over.
private struct Rounds {
    private let start = ContinuousClock.now
    private let span: Duration
    private(set) var count = 0
    private var halves: [Double]

    init(span: Duration) {
        self.span = span
        halves = Array(repeating: 0, count: Int((span / .milliseconds(500)).rounded(.up)))
    }

    /// Counts a round and returns `true` if there is time for it.
    mutating func begin() -> Bool {
        let passed = ContinuousClock.now - start
        guard passed < span else { return false }
        count += 1
        halves[Int(passed / .milliseconds(500))] += 2
        return true
    }

    var done: RoundsDone {
        RoundsDone(rate: Double(count) / ((ContinuousClock.now - start) / .seconds(1)), halves: halves)
    }
}

/// Computes in a memory area that exceeds a processor's private caches.
struct ProcessorWork: ForegroundWork {
    let threads: Int

    func run(for span: Duration) -> RoundsDone {
        let total = Mutex(RoundsDone())
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            var numbers = (0..<(1 << 20)).map { UInt32(truncatingIfNeeded: $0 &* 2_654_435_761 &+ thread) }
            var state = UInt32(thread) | 1
            var rounds = Rounds(span: span)
            while rounds.begin() {
                for _ in 0..<(1 << 18) {
                    state ^= state << 13
                    state ^= state >> 17
                    state ^= state << 5
                    let place = Int(state & (1 << 20 - 1))
                    numbers[place] = numbers[place] &+ state
                }
            }
            blackHole(numbers)
            let done = rounds.done
            total.withLock { $0 = $0 + done }
        }
        return total.withLock { $0 }
    }
}

/// Alternates small durable writes with uncached reads, as databases do.
final class DiskWork: ForegroundWork {
    private static let read = 64 << 10
    private static let write = 16 << 10
    private static let size = 512 << 20
    private let folder: String

    init(folder: String) throws {
        self.folder = folder + "/disk"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        let file = try descriptor("read", O_RDWR | O_CREAT)
        defer { close(file) }
        let block = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for place in stride(from: 0, to: Self.size, by: block.count) {
            guard pwrite(file, block, block.count, place) == block.count else { throw failure("writing") }
        }
        fsync(file)
    }

    func run(for span: Duration) throws -> RoundsDone {
        let written = try descriptor("written", O_RDWR | O_CREAT | O_TRUNC)
        defer { close(written) }
        let read = try descriptor("read", O_RDONLY)
        defer { close(read) }
        var random = SplitMix64(seed: 1)
        var buffer = [UInt8](repeating: 7, count: Self.read)
        var rounds = Rounds(span: span)
        while rounds.begin() {
            let place = rounds.count % 1024 * Self.write
            guard pwrite(written, buffer, Self.write, place) == Self.write, fdatasync(written) == 0 else {
                throw failure("writing")
            }
            for _ in 0..<4 {
                let place = random.below(Self.size / Self.read) * Self.read
                // Drops the range from the page cache, so that the read comes from the disk.
                posix_fadvise(read, place, Self.read, POSIX_FADV_DONTNEED)
                guard pread(read, &buffer, Self.read, place) == Self.read else { throw failure("reading") }
            }
        }
        return rounds.done
    }

    private func descriptor(_ name: String, _ flags: Int32) throws -> Int32 {
        let number = open(folder + "/" + name, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw failure("opening \(name)") }
        return number
    }

    private func failure(_ what: String) -> BenchmarkError {
        BenchmarkError("\(what) in \(folder) failed: \(String(cString: strerror(errno))).")
    }
}
