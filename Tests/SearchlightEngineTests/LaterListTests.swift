// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import SearchlightEngine

/// Messages of a service that is older than the command.
@Suite("Messages of an earlier version")
struct LaterListTests {
    /// Encodes a value, and decodes it with and without a key.
    private func check<Value: Codable & Equatable>(
        _ value: Value, without key: String, is earlier: Value
    ) throws {
        let bytes = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(Value.self, from: bytes) == value)
        var object = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        #expect((object.removeValue(forKey: key) as? [String]) == ["A note."])
        let rest = try JSONSerialization.data(withJSONObject: object)
        #expect(try JSONDecoder().decode(Value.self, from: rest) == earlier)
    }

    @Test("Notes that are missing are none")
    func notes() throws {
        let notes = ["A note."]
        func status(_ notes: [String]) -> ProtectionStatus {
            ProtectionStatus(storage: .keyring, isUnlocked: true, indexes: [], findings: [], notes: notes)
        }
        try check(status(notes), without: "notes", is: status([]))
        try check(UnlockReport(items: 1, notes: notes), without: "notes", is: UnlockReport(items: 1))
        try check(
            KeyChangeReport(storage: .keyring, notes: notes), without: "notes", is: KeyChangeReport(storage: .keyring))
        try check(RotationReport(items: 1, notes: notes), without: "notes", is: RotationReport(items: 1))
        try check(RotationReport(items: 1, kept: notes), without: "kept", is: RotationReport(items: 1))
        func facts(_ notes: [String]) -> ServiceFacts {
            ServiceFacts(processIdentifier: 1, version: "0.1.0", uptime: 1, clients: 1, protectionNotes: notes)
        }
        try check(facts(notes), without: "protectionNotes", is: facts([]))
    }
}
