// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import ItemRecord
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import CoreSpotlight

/// A connection to a scripted service, and the results of its requests.
final class ConnectionHarness: Sendable {
    let service = ScriptedService()
    let clock = ManualTiming()
    let connection: ServiceConnection
    private let outcomes = Mutex<[Int: [Result<[BusValue], BusError>]]>([:])

    init(bundle: String? = "com.example.test") {
        connection = ServiceConnection(
            opener: service,
            identity: ProcessIdentity(
                environment: [:], bundleIdentifier: bundle, processIdentifier: 1, program: "/bin/test"),
            timing: clock.timing)
    }

    func ask(_ number: Int, _ request: IndexRequest) {
        connection.ask(.index(request)) { result in self.outcomes.withLock { $0[number, default: []].append(result) } }
    }

    func ask(_ number: Int, question member: BusMember) {
        connection.ask(.question(member, [])) { result in
            self.outcomes.withLock { $0[number, default: []].append(result) }
        }
    }

    /// Lets the connection do all possible work.
    func settle() {
        for _ in 0..<3 {
            connection.queue.sync {}
            connection.openingQueue.sync {}
        }
        connection.queue.sync {}
    }

    /// Lets the connection and the service do all possible work, without time passing.
    func run() {
        settle()
        while service.carryOut() || service.answer() { settle() }
    }

    /// The number of answers to each request.
    var counts: [Int: Int] { outcomes.withLock { $0.mapValues(\.count) } }

    func failure(_ number: Int) -> BusError? {
        outcomes.withLock { outcomes in
            if case .failure(let failure)? = outcomes[number]?.first { failure } else { nil }
        }
    }
}

@Suite("Reconnection")
struct ReconnectionTests {
    private static func delete(_ name: String) -> IndexRequest { IndexRequest(.deleteItems([name]), index: nil) }

    @Test("After any loss of the connection exactly the unacknowledged requests are sent again, in order")
    func everyCutPoint() {
        let requests = (0..<6).map { Self.delete("\($0)") }
        // A greeting and six requests. Each is executed, then answered.
        for cut in 0...14 {
            let harness = ConnectionHarness()
            for (number, request) in requests.enumerated() { harness.ask(number, request) }
            harness.settle()
            for step in 0..<cut {
                _ = step % 2 == 0 ? harness.service.carryOut() : harness.service.answer()
                harness.settle()
            }
            harness.service.cut()
            harness.settle()
            let answered = harness.counts.count
            #expect(answered == max(0, cut / 2 - 1))
            // A timer runs only while a request waits.
            #expect(harness.clock.timerCount == (answered == 6 ? 0 : 1), "cut after \(cut) steps")
            harness.clock.runNext()
            harness.run()
            #expect(
                harness.counts == Dictionary(uniqueKeysWithValues: (0..<6).map { ($0, 1) }), "cut after \(cut) steps")
            let received = harness.service.state.withLock { $0.received }
            if answered < 6 { #expect(received.last == Array(requests[answered...]), "cut after \(cut) steps") }
        }
    }

    @Test("Random requests with random connection losses have the same result as without losses")
    func randomCuts() {
        let seed = MutationLoop.seed
        var random = SplitMix64(seed: seed)
        for _ in 0..<60 {
            let harness = ConnectionHarness()
            var model: [String?: ScriptedService.Index] = [:]
            var expected: [Int: Bool] = [:]
            let count = Int.random(in: 1...25, using: &random)
            for number in 0..<count {
                let index = [nil, "a", "b"].randomElement(using: &random)!
                let action = Self.action(number, model[index]?.state, hasState: index != nil, &random)
                let outcome = model[index, default: .init()].apply(action)
                if case .success = outcome { expected[number] = true } else { expected[number] = false }
                harness.ask(number, IndexRequest(action, index: index))
            }
            var cuts = 0
            while harness.counts.count < count {
                harness.settle()
                switch Int.random(in: 0..<20, using: &random) {
                // Fewer cuts than the number that raises a suspicion.
                case 0 where cuts < ServiceConnection.maximumSends - 1:
                    harness.service.cut()
                    cuts += 1
                case 1..<10: _ = harness.service.carryOut()
                case 10..<18: _ = harness.service.answer()
                default:
                    if harness.service.state.withLock({ !$0.isUp }) { harness.clock.runNext() }
                }
            }
            #expect(
                harness.service.state.withLock { $0.indexes.filter { $0.value != .init() } }
                    == model.filter { $0.value != .init() }, "seed \(seed)")
            #expect(harness.counts.values.allSatisfy { $0 == 1 })
            for number in 0..<count {
                // After a batch that expected a wrong state, a later batch may be reported as
                // rejected although it was executed, but never the reverse.
                if harness.failure(number) == nil || !expected.values.contains(false) {
                    let isRight = (harness.failure(number) == nil) == expected[number]
                    #expect(isRight, "request \(number), seed \(seed)")
                }
            }
        }
    }

    /// Returns a random action. Every batch leaves its own state, and most batches expect the
    /// correct one.
    private static func action(
        _ number: Int, _ state: [UInt8]?, hasState: Bool, _ random: inout SplitMix64
    ) -> IndexRequest.Action {
        let name = ["x", "y", "z"].randomElement(using: &random)!
        let other = ["x", "y", "w"].randomElement(using: &random)!
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3: return .change(.put(Array(name.utf8)))
        case 3..<5: return .change(.deleteItems([name]))
        case 5..<7 where name != other: return .change(.renameItems([ItemRename(name, to: other)]))
        default:
            guard hasState else { return .change(.put(Array(name.utf8))) }
            var changes = ChangeList()
            changes.append(Bool.random(using: &random) ? .deleteItems([name]) : .put(Array(name.utf8)))
            if Int.random(in: 0..<3, using: &random) == 0 {
                changes.append(.renameItems([ItemRename(name, to: "w"), ItemRename("w", to: name)]))
            }
            let isWrong = Int.random(in: 0..<8, using: &random) == 0
            return .commitBatch(
                changes: changes.bytes, clientState: [UInt8(number)], expecting: .exactly(isWrong ? [255] : state))
        }
    }

    @Test("A rename is sent alone, and one with an unknown result is not repeated if a repetition could continue it")
    func renames() {
        func rename(_ pairs: [(String, String)]) -> IndexRequest {
            IndexRequest(.renameItems(pairs.map { ItemRename($0.0, to: $0.1) }), index: nil)
        }
        let (simple, swap) = (rename([("a", "b"), ("c", "d")]), rename([("a", "b"), ("b", "a")]))
        var list = ChangeList([.put(Array("a".utf8)), .renameItems([ItemRename("a", to: "b")])])
        let batch = IndexRequest(.commitBatch(changes: list.bytes, clientState: [1], expecting: .any), index: "n")
        list.append(.deleteAll)
        let exchange = IndexRequest(
            .commitBatch(changes: list.bytes, clientState: [1], expecting: .exactly(nil)), index: "n")
        for (request, isRepeatable) in [(simple, true), (swap, false), (batch, false), (exchange, true)] {
            #expect(request.renamesItems && request.isRepeatable == isRepeatable)
            let harness = ConnectionHarness()
            for (number, other) in [Self.delete("x"), request, Self.delete("y"), Self.delete("z")].enumerated() {
                harness.ask(number, other)
            }
            func received() -> Int { harness.service.state.withLock { $0.received.last?.count ?? 0 } }
            harness.settle()
            // The greeting and earlier requests. Nothing is sent with the rename.
            for expected in [1, 2] {
                _ = harness.service.carryOut()
                _ = harness.service.answer()
                harness.settle()
                #expect(received() == expected)
            }
            _ = harness.service.carryOut()
            harness.service.cut()
            harness.settle()
            harness.clock.runNext()
            harness.run()
            #expect(harness.counts == [0: 1, 1: 1, 2: 1, 3: 1])
            guard case .remote(name: ServiceErrorName.unreachable, _)? = harness.failure(1) else {
                #expect(isRepeatable && harness.failure(1) == nil)
                continue
            }
            #expect(!isRepeatable)
        }
    }

    @Test("A rejected batch does not hide that later batches were applied")
    func refusedBatchFirst() {
        var deletion = ChangeList()
        deletion.append(.deleteItems(["y"]))
        let sent: [IndexRequest.Action] = [
            .commitBatch(changes: ChangeList().bytes, clientState: [20], expecting: .exactly([255])),
            .change(.put(Array("y".utf8))),
            .commitBatch(changes: deletion.bytes, clientState: [22], expecting: .exactly(nil)),
            .change(.put(Array("z".utf8))),
        ]
        // The number of executed requests, and the resulting state.
        for (count, state, expected) in [(2, nil, []), (3, [22], [1, 2]), (4, [22], [1, 2])] as [(Int, [UInt8]?, Set)] {
            let requests = sent.map { IndexRequest($0, index: "b") }
            #expect(ResendPlan.carriedOut(requests, states: ["b": state]) == expected, "\(count) carried out")
            var service = ScriptedService.Index()
            for action in sent.prefix(count) { _ = service.apply(action) }
            #expect(service.state == state)
            for position in sent.indices where !expected.contains(position) { _ = service.apply(sent[position]) }
            #expect(service == ScriptedService.Index(items: ["z"], state: [22]))
        }
    }

    @Test("Repeated states, and batches that expect none, do not lead to wrong results")
    func repeatedStates() {
        let seed = MutationLoop.seed
        var random = SplitMix64(seed: seed)
        for _ in 0..<3000 {
            // The earlier state of a service, the sent requests, and the number of executed ones.
            var service = ScriptedService.Index(items: ["x"], state: [nil, [], [1]].randomElement(using: &random)!)
            var model = service
            var sent: [IndexRequest] = []
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                var changes = ChangeList()
                let name = ["x", "y"].randomElement(using: &random)!
                changes.append(Bool.random(using: &random) ? .deleteItems([name]) : .put(Array(name.utf8)))
                let new: [UInt8] = [[], [1], [2]].randomElement(using: &random)!
                let action: IndexRequest.Action =
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: .change(.deleteAll)
                    case 1: .change(.put(Array(name.utf8)))
                    case 2: .commitBatch(changes: changes.bytes, clientState: new, expecting: .any)
                    default: .commitBatch(changes: changes.bytes, clientState: new, expecting: .exactly(model.state))
                    }
                _ = model.apply(action)
                sent.append(IndexRequest(action, index: "i"))
            }
            let done = Int.random(in: 0...sent.count, using: &random)
            for request in sent[..<done] { _ = service.apply(request.action) }
            let states = ResendPlan.questions(sent).isEmpty ? [:] : ["i": service.state]
            let carriedOut = ResendPlan.carriedOut(sent, states: states)
            #expect(carriedOut.allSatisfy { $0 < done }, "seed \(seed)")
            for (position, request) in sent.enumerated() where !carriedOut.contains(position) {
                _ = service.apply(request.action)
            }
            #expect(service.state == model.state, "seed \(seed)")
        }
    }

    @Test("A batch that was applied before its answer was lost counts as done and is not sent again")
    func batchThatWasCarriedOut() {
        let harness = ConnectionHarness()
        let commit = IndexRequest(
            .commitBatch(changes: [4], clientState: [1], expecting: .exactly(nil)), index: "n")
        harness.ask(0, commit)
        harness.ask(1, Self.delete("later"))
        harness.settle()
        while harness.service.state.withLock({ $0.indexes.isEmpty }) {
            _ = harness.service.carryOut()
            if harness.service.state.withLock({ $0.indexes.isEmpty }) { _ = harness.service.answer() }
            harness.settle()
        }
        harness.service.cut()
        harness.settle()
        harness.clock.runNext()
        harness.run()
        #expect(harness.counts == [0: 1, 1: 1] && harness.failure(0) == nil)
        #expect(
            harness.service.state.withLock { $0.received } == [[commit, Self.delete("later")], [Self.delete("later")]])
    }
}
