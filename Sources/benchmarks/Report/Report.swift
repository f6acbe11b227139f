// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Something one has to know to read the figures.
struct Fact: Encodable {
    var name: String
    var value: String
}

/// All that was measured in one run.
struct Report: Encodable {
    var facts: [Fact] = []
    var measurements: [Measurement] = []
    var searches: [SearchLatency] = []

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    var markdown: String {
        var lines = facts.map { "- \($0.name): \($0.value)" }
        if !measurements.isEmpty { lines += ["", Measurement.header] + measurements.map(\.row) }
        if !searches.isEmpty { lines += ["", SearchLatency.header] + searches.map(\.row) }
        return lines.joined(separator: "\n")
    }
}
