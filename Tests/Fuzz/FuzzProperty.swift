// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import ItemRecord
import MetadataQuery
import SymbolBindings

/// The properties that must hold for any input. The fuzzing process terminates if one does not.
enum FuzzProperty: UInt8, CaseIterable {
    case metadataQuery, userQuery, itemRecord, jobs, binding

    /// Checks one input.
    func check(_ bytes: [UInt8]) {
        switch self {
        case .metadataQuery: metadataQuery(String(decoding: bytes, as: UTF8.self))
        case .userQuery: userQuery(String(decoding: bytes, as: UTF8.self))
        case .itemRecord: itemRecord(bytes)
        case .jobs: jobs(bytes)
        case .binding: binding(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// An accepted query is unchanged after printing and parsing.
    private func metadataQuery(_ text: String) {
        guard let expression = try? QueryExpression(parsing: text) else { return }
        var limits = QueryLimits.standard
        limits.maximumBytes = .max
        let again = try? QueryExpression(parsing: expression.description, limits: limits)
        precondition(again == expression, "it changes when it is printed and parsed again")
    }

    /// An accepted binding is unchanged after printing and parsing.
    private func binding(_ text: String) {
        guard let binding = try? SymbolBinding(parsing: text) else { return }
        let printed = binding.description
        // The printed form contains spaces, so it may exceed the maximum length of a binding.
        guard printed.utf8.count <= BindingLimits.textBytes else { return }
        precondition(
            (try? SymbolBinding(parsing: printed)) == binding, "it changes when it is printed and parsed again")
    }

    /// Every text is accepted, within the limits.
    private func userQuery(_ text: String) {
        let query = UserQuery(text)
        precondition(query.terms.count <= UserQuery.maximumTerms, "too many terms")
    }

    /// An accepted record is unchanged after encoding and decoding.
    private func itemRecord(_ bytes: [UInt8]) {
        guard let record = try? ItemRecord(decoding: bytes) else { return }
        guard let encoded = try? record.encoded(), let again = try? ItemRecord(decoding: encoded) else {
            preconditionFailure("what was decoded cannot be encoded")
        }
        // NaN is not equal to itself, so the encodings are compared.
        precondition((try? again.encoded()) == encoded, "encoded and decoded it is another one")
    }

    private func jobs(_ bytes: [UInt8]) {
        guard let queue = try? JSONDecoder().decode(JobQueue.self, from: Data(bytes)) else { return }
        guard let data = try? JSONEncoder().encode(queue) else { return }
        precondition((try? JSONDecoder().decode(JobQueue.self, from: data)) == queue, "read again it is another one")
    }
}
