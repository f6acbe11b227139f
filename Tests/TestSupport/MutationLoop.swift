// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Mutates valid inputs randomly and searches for an input that breaks a property, for decoders and
/// parsers. It has no coverage feedback, unlike Tests/Fuzz, which `Scripts/torture` also runs.
public struct MutationLoop: Sendable {
    /// The inputs to mutate; accepted inputs are added.
    private var corpus: [[UInt8]]
    private var random: SplitMix64
    /// The bytes and words that have a meaning for the decoder.
    private let tokens: [[UInt8]]
    /// The maximum length of an input: 2 KiB, or somewhat more than the longest input of the first
    /// corpus.
    private let longest: Int

    /// An input that breaks the property, reduced as far as possible.
    public struct Failure: Error, CustomStringConvertible {
        public let input: [UInt8]
        public let reason: String
        public var description: String {
            "\(reason); the bytes are [\(input.map(String.init).joined(separator: ", "))], "
                + "as text \(String(decoding: input, as: UTF8.self).debugDescription)"
        }
    }

    /// The seed of all random tests, from `SEARCHLIGHT_TORTURE_SEED` or random. Scripts/test
    /// derives it from the sources, so that equal sources have equal tests.
    public static let seed =
        ProcessInfo.processInfo.environment["SEARCHLIGHT_TORTURE_SEED"].flatMap { UInt64($0) }
        ?? .random(in: 1...999_999)
    /// The number of inputs: 500 for each round of a torture run, otherwise 4000.
    public static let inputs =
        (ProcessInfo.processInfo.environment["SEARCHLIGHT_TORTURE_ROUNDS"].flatMap { Int($0) }).map { $0 * 500 }
        ?? 4000

    public init(seed: UInt64, corpus: [[UInt8]], tokens: [[UInt8]] = []) {
        random = SplitMix64(seed: seed)
        self.corpus = corpus
        longest = max(2048, (corpus.map(\.count).max() ?? 0) + 64)
        self.tokens = tokens + [[0], [0xFF], [0x80], [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0xFF, 0xFF, 0xFF, 0x7F]]
    }

    /// Runs the property on `count` inputs.
    ///
    /// - Parameter property: Throws the reason if an input breaks the property; returns `true` if
    ///   the input was accepted.
    /// - Returns: The number of accepted inputs.
    /// - Throws: ``Failure``.
    public mutating func run(_ count: Int, _ property: ([UInt8]) throws -> Bool) throws -> Int {
        var accepted = 0
        for _ in 0..<count {
            let input = mutated()
            do {
                guard try property(input) else { continue }
                accepted += 1
                if corpus.count < 500 { corpus.append(input) } else { corpus[random.below(500)] = input }
            } catch {
                let small = Self.shrunk(input) { input in
                    do {
                        _ = try property(input)
                        return false
                    } catch { return true }
                }
                throw Failure(input: small, reason: "\(error)")
            }
        }
        return accepted
    }

    private mutating func mutated() -> [UInt8] {
        var bytes = random.pick(corpus)
        for _ in 0..<(1 + random.below(4)) {
            let place = random.below(bytes.count + 1)
            let end = min(bytes.count, place + 1 + random.below(8))
            switch random.below(8) {
            case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(random.below(8))
            case 1 where place < bytes.count: bytes[place] = UInt8(random.below(256))
            case 2 where place < bytes.count: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: random.pick(tokens), at: place)
            case 4: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 5: bytes.insert(UInt8(random.below(256)), at: place)
            case 6:
                // Joins the beginning of one input and the end of another.
                let other = random.pick(corpus)
                bytes = Array(bytes[..<place]) + other[random.below(other.count + 1)...]
            default: if random.below(4) == 0 { bytes.removeSubrange(place...) }
            }
        }
        return Array(bytes.prefix(longest))
    }

    /// Removes pieces, large ones first, as long as the rest still fails.
    static func shrunk(_ input: [UInt8], failing: ([UInt8]) -> Bool) -> [UInt8] {
        var best = input
        var piece = max(1, best.count / 2)
        while true {
            var start = 0
            while start < best.count {
                var candidate = best
                candidate.removeSubrange(start..<min(best.count, start + piece))
                if failing(candidate) { best = candidate } else { start += piece }
            }
            guard piece > 1 else { return best }
            piece /= 2
        }
    }
}
