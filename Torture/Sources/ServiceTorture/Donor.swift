// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Foundation
import MetadataQuery
import SearchIndex
import SearchlightEngine
import TortureSupport

/// Donates the batches of a stream in order, and checks that the service keeps everything it
/// acknowledged.
struct Donor: Sendable {
    let scope: IndexScope
    let number: Int
    let epoch: Int
    let log: ClientLog

    static let seed: UInt64 = 0xD0_0123

    /// Returns the number of a donor's batch stream in an epoch.
    static func stream(donor: Int, epoch: Int) -> Int { epoch << 4 | donor }

    static func model(donor: Int, epoch: Int) -> TortureModel {
        TortureModel(scope: stream(donor: donor, epoch: epoch), seed: seed, expires: false)
    }

    /// Returns the number of the last batch that was acknowledged to a donor.
    static func acknowledged(_ place: TorturePlace, donor: Int, epoch: Int) -> Int {
        ClientLog(place, .donor, donor, epoch).lastAcknowledged
    }

    /// Returns the number of the last batch in the store.
    static func state(_ store: any EngineClient, _ scope: IndexScope) async throws -> Int {
        guard let bytes = try await store.perform(ClientStateCall(scope: scope)) else { return 0 }
        guard let number = Int(String(decoding: bytes, as: UTF8.self)) else {
            throw TortureProblem("\(scope.bundle): the client state is torn: \(bytes)")
        }
        return number
    }

    func run(_ store: RemoteEngine) async throws {
        // The service may still be applying a donation from an earlier donor in this scope.
        let known = log.lastAcknowledged
        var durable = try await log.timed("reading the state") { try await Self.state(store, scope) }
        guard durable >= known else {
            log.complain("\(scope.bundle): \(known) was acknowledged, the state is \(durable)")
            return
        }
        // A state that has been read must not be lost either.
        if durable > known { log.line("acknowledged \(durable)") }
        var model = Self.model(donor: number, epoch: epoch)
        while true {
            let next = durable + 1
            let batch = TortureBatch(
                next, scope: Self.stream(donor: number, epoch: epoch), seed: Self.seed, expires: false)
            let expectation = durable == 0 ? nil : Array("\(durable)".utf8)
            let donation = try batch.donation(to: scope)
            try await log.timed("donating") {
                try await store.commit(donation.with(clientState: batch.clientState, expecting: .exactly(expectation)))
            }
            log.line("acknowledged \(next)")
            durable = next
            guard next % 16 == 0 else { continue }
            model.advance(to: next)
            try await look(store, model)
        }
    }

    /// Checks that an acknowledged batch can be found by its state, its number and its words.
    private func look(_ store: RemoteEngine, _ model: TortureModel) async throws {
        let number = model.batch
        try await log.timed("reading what was donated") {
            let state = try await Self.state(store, scope)
            let page = try await store.items(
                matching: try QueryExpression(parsing: "pageCount == \(number)"), bundle: scope.bundle, limit: 100)
            let expected = model.items.values.filter { $0.attributes["pageCount"] == .integer(Int64(number)) }
            let found = page.items.map(\.record)
            if state != number { log.complain("\(scope.bundle): after batch \(number) the state is \(state)") }
            if found.count != expected.count || !expected.allSatisfy({ found.contains($0) }) {
                log.complain(
                    "\(scope.bundle): of batch \(number) \(expected.count) items are there, \(found.count) are found")
            }
        }
    }
}
