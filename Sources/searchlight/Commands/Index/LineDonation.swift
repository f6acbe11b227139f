// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import SearchIndex
import SearchlightEngine

/// Puts lines into batches and the batches into the index.
struct LineDonation {
    /// A line that was not taken.
    struct Refusal: Encodable {
        var line: Int
        var reason: String
    }

    /// The most refused lines that are remembered; the others are counted.
    static let maximumListed = 1000
    /// The size at which a batch is full although nothing ends it, in bytes of records.
    static let fullBatchBytes = 16 << 20
    /// The largest batch that must not be divided, in bytes of records: what the journal takes, less its own bytes.
    static let maximumBatchBytes = 48 << 20

    let store: any EngineClient
    let scope: IndexScope
    /// The most lines of a batch that nothing else ends.
    let linesPerBatch: Int
    /// The state after the one batch of the whole input; `nil` if there may be several batches.
    let clientState: [UInt8]?
    let expectation: ClientStateExpectation
    /// Told how many batches are durable.
    let onDurable: (Int) throws -> Void

    private(set) var accepted = 0
    /// How many of those had expired before they came.
    private(set) var expired = 0
    private(set) var refused = 0
    private(set) var batches = 0
    private(set) var refusals: [Refusal] = []
    /// Why nothing after a certain line was donated.
    private(set) var halt: String?

    private var batch: IndexBatch
    private var pending: [Int] = []
    private var pendingBytes = 0
    private var pendingExpired = 0
    private var refusedInBatch = 0
    private var hasExplicitEnds = false
    private var wasDivided = false

    init(
        store: any EngineClient, scope: IndexScope, linesPerBatch: Int, clientState: [UInt8]?,
        expectation: ClientStateExpectation, onDurable: @escaping (Int) throws -> Void
    ) {
        self.store = store
        self.scope = scope
        self.linesPerBatch = linesPerBatch
        self.clientState = clientState
        self.expectation = expectation
        self.onDurable = onDurable
        batch = IndexBatch(scope: scope)
    }

    private var isOneBatch: Bool { clientState != nil || expectation != .any }

    mutating func donate(_ input: InputLines) async throws {
        var input = input
        var number = 0
        while halt == nil, let (bytes, isTooLong) = try await input.next() {
            number += 1
            if isTooLong {
                refuse(number, "it is longer than \(InputLines.maximumLineBytes) bytes")
                continue
            }
            let line: DonationLine
            do throws(LineRefusal) {
                line = try DonationLine(bytes)
            } catch {
                refuse(number, error.reason)
                continue
            }
            switch line {
            case .empty: break
            case .item(let item):
                // Only when another item comes: an end of the batch may follow the last line that fits.
                try await divideIfFull()
                guard halt == nil else { break }
                batch.index([item])
                pending.append(number)
                pendingBytes += item.bytes.count
                if item.record.hasExpired { pendingExpired += 1 }
            case .endOfBatch where isOneBatch:
                refuse(number, "with --client-state and --expect-state the whole input is one batch")
            case .endOfBatch(let state):
                hasExplicitEnds = true
                try await end(at: number, clientState: state)
            }
        }
        guard halt == nil else { return }
        if hasExplicitEnds, !pending.isEmpty {
            // Whoever ends batches and dies before the end of one has not donated it.
            return dropBatch("the input ends before its batch does")
        }
        try await end(at: number, clientState: clientState)
    }

    private mutating func refuse(_ line: Int, _ reason: String) {
        refused += 1
        refusedInBatch += 1
        if refusals.count < Self.maximumListed { refusals.append(Refusal(line: line, reason: reason)) }
    }

    private mutating func divideIfFull() async throws {
        if isOneBatch {
            if pendingBytes > Self.maximumBatchBytes {
                dropBatch("a batch takes at most \(Self.maximumBatchBytes) bytes; divide it")
                halt = "The batch is too large. Nothing is donated."
            }
        } else if pending.count >= linesPerBatch || pendingBytes >= Self.fullBatchBytes {
            wasDivided = true
            try await commit(nil, expecting: .any)
        }
    }

    /// Makes durable what has come since the last end. A client state says that all before it is in the index, so a batch
    /// that has one is donated as a whole or not at all.
    private mutating func end(at line: Int, clientState state: [UInt8]?) async throws {
        defer { (refusedInBatch, wasDivided) = (0, false) }
        guard state != nil || expectation != .any else { return try await commit(nil, expecting: .any) }
        if refusedInBatch > 0 {
            dropBatch("another line of its batch is refused, and a batch with a client state is taken as a whole")
            halt = "The batch that ends at line \(line) is refused, and nothing after it is donated."
            return
        }
        if wasDivided {
            dropBatch("its batch has more than \(linesPerBatch) lines or \(Self.fullBatchBytes) bytes; see --batch")
            halt = """
                The batch that ends at line \(line) is too large to have a client state. Its first part is donated, \
                the state is unchanged.
                """
            return
        }
        try await commit(state, expecting: expectation)
    }

    private mutating func dropBatch(_ reason: String) {
        let lines = pending
        clearBatch()
        for line in lines { refuse(line, reason) }
        refusals.sort { $0.line < $1.line }
    }

    private mutating func clearBatch() {
        batch = IndexBatch(scope: scope)
        (pending, pendingBytes, pendingExpired) = ([], 0, 0)
    }

    private mutating func commit(_ state: [UInt8]?, expecting expectation: ClientStateExpectation) async throws {
        guard !pending.isEmpty || state != nil || expectation != .any else { return }
        try await store.commit(batch.with(clientState: state, expecting: expectation))
        accepted += pending.count
        expired += pendingExpired
        batches += 1
        clearBatch()
        try onDurable(batches)
    }
}

extension ItemRecord {
    /// Whether it is one that nobody will find.
    fileprivate var hasExpired: Bool {
        guard case .at(let moment) = expiration, !isUpdate else { return false }
        return moment <= Date().timeIntervalSinceReferenceDate
    }
}
