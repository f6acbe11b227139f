// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import Glibc
import ItemRecord
import ServiceMessages

/// An app that donates a large amount at once, over a separate connection, without waiting for
/// answers in between.
struct Flood: Sendable {
    /// The content of each batch.
    enum Shape: String, Sendable, CaseIterable {
        /// A single item with a text of 15 MiB.
        case oneItem
        /// 15 MiB of items of 16 KiB.
        case manyItems
        /// Two items of 15.5 MiB, close to the limit of a batch.
        case twoItems
    }

    static let batches = 12

    /// Returns the records of a batch.
    static func batch(_ number: Int, _ shape: Shape, bundle: String) throws -> [UInt8] {
        var batch: [UInt8] = []
        switch shape {
        case .oneItem: RecordBatch.append(try item("\(bundle) \(number)", bytes: 15 << 20, seed: number), to: &batch)
        case .twoItems:
            for half in 0..<2 {
                let record = try item("\(bundle) \(number).\(half)", bytes: 31 << 19, seed: number * 2 + half)
                RecordBatch.append(record, to: &batch)
            }
        case .manyItems:
            for part in 0..<960 {
                let record = try item("\(bundle) \(number).\(part)", bytes: 16 << 10, seed: number * 960 + part)
                RecordBatch.append(record, to: &batch)
            }
        }
        return batch
    }

    /// Words, most of which occur in many items. Created once.
    private static let words: [UInt8] = {
        var text: [UInt8] = []
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        while text.count < 1 << 20 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            var word = (state >> 33) % 50_000
            for _ in 0..<4 {
                text.append(UInt8(ascii: "a") + UInt8(word % 26))
                word /= 26
            }
            text.append(UInt8(ascii: " "))
        }
        return text
    }()

    /// Returns an item with a text of these words, which starts at a different position for each
    /// seed.
    private static func item(_ identifier: String, bytes: Int, seed: Int) throws -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes)
        var start = seed * 7919 % (words.count / 5) * 5
        while text.count < bytes - 1024 {
            let count = min(words.count - start, bytes - 1024 - text.count)
            text += words[start..<start + count]
            start = 0
        }
        return try record(
            identifier, title: "flood \(identifier)",
            attributes: ["textContent": .string(String(decoding: text, as: UTF8.self))])
    }

    /// Sends all batches over a new connection, and returns when all answers have arrived.
    ///
    /// - Returns: The number of rejected batches.
    static func run(bundle: String, _ shape: Shape, _ client: TestClient) async throws -> Int {
        var answers: [Answer] = []
        for number in 0..<batches {
            let request = IndexRequest(.put(try batch(number, shape, bundle: bundle)), index: nil)
            let answer = Answer()
            client.connection.call(request.member, request.arguments) { answer.set($0) }
            answers.append(answer)
        }
        var refused = 0
        for answer in answers {
            do { _ = try await answer.value() } catch { refused += 1 }
        }
        return refused
    }
}
