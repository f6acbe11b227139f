// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import UserSearch

@Suite("Numbers of the stems of an item", .timeLimit(.minutes(10)))
struct StemTableTests {
    private func number(_ stem: String, in table: inout StemTable) -> Int {
        var stem = stem
        return stem.withUTF8 { table.number(of: $0) }
    }

    @Test("Equal stems have equal numbers, in order of their first occurrence, also after a removal")
    func numbers() {
        var random = SplitMix64(seed: MutationLoop.seed)
        var table = StemTable(secret: random.next())
        for round in 0..<60 {
            var (numbers, stems): ([String: Int], [String]) = ([:], [])
            // In some rounds the table grows several times.
            for _ in 0..<random.pick([0, 1, 40, 300, 6000]) {
                let stem = random.pick(["", "a", "run", "\(random.below(4000))", random.text(length: random.below(30))])
                let expected = numbers[stem] ?? stems.count
                // Equal strings may have different characters, and are different stems.
                guard stems.count == expected || Array(stems[expected].utf8) == Array(stem.utf8) else { continue }
                if expected == stems.count {
                    numbers[stem] = expected
                    stems.append(stem)
                }
                #expect(number(stem, in: &table) == expected, "seed \(MutationLoop.seed), round \(round)")
            }
            #expect(table.count == stems.count)
            for (number, stem) in stems.enumerated() { #expect(Array(table.stem(number)) == Array(stem.utf8)) }
            table.removeAll(keepingCapacity: random.below(2) == 0)
            #expect(table.count == 0)
        }
    }

    @Test("Stems that differ in one byte or in their length are distinct for any secret")
    func similarStems() {
        for secret in [0, 1, 2, .max, 1 << 63] as [UInt64] {
            var table = StemTable(secret: secret)
            var expected = 0
            for length in 0..<40 {
                for byte in 0..<256 where length > 0 || byte == 0 {
                    var stem = [UInt8](repeating: 0x61, count: length)
                    if length > 0 { stem[length - 1] = UInt8(byte) }
                    let found = stem.withUnsafeBufferPointer { table.number(of: $0) }
                    #expect(found == expected)
                    expected += 1
                }
            }
        }
    }
}
