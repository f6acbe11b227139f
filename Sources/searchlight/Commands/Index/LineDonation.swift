// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import SearchIndex
import SearchlightEngine

/// Collects lines into batches and commits the batches to the index.
struct LineDonation {
    /// A rejected line.
    struct Refusal: Encodable {
        var line: Int
        var reason: String
    }

    /// A note on an attribute, with the lines to which it applies.
    struct Note: Encodable {
        var attribute: String
        var note: String
        /// The number of the first line.
        var line: Int
        /// The number of lines.
        var lines: Int
    }

    /// The maximum number of notes. A limit is necessary, because the input may contain any number
    /// of misspelled names.
    static let maximumNotes = 1000
    /// The maximum number of rejected lines that are listed. Further lines are only counted.
    static let maximumListed = 1000
    /// The total size of the records, in bytes, at which a batch is committed without an explicit
    /// end.
    static let fullBatchBytes = 16 << 20
    /// The maximum total size of the records, in bytes, in a batch that must not be divided: the
    /// limit of the write-ahead log, minus the log's own bytes.
    static let maximumBatchBytes = 48 << 20

    let store: any EngineClient
    let scope: IndexScope
    /// The protection class of the index; `nil` to keep its current class.
    let protection: ProtectionClass?
    /// The maximum number of lines in a batch without an explicit end.
    let linesPerBatch: Int
    /// The client state after the only batch in the input; `nil` if there may be several batches.
    let clientState: [UInt8]?
    let expectation: ClientStateExpectation
    /// Called with the number of durable batches.
    let onDurable: (Int) throws -> Void

    private(set) var accepted = 0
    /// The number of accepted items that had expired before the donation.
    private(set) var expired = 0
    private(set) var refused = 0
    private(set) var batches = 0
    private(set) var refusals: [Refusal] = []
    /// The reason why no further lines are donated.
    private(set) var halt: String?

    /// The notes on attributes, from all lines that were not rejected individually.
    private var notes: [DonatedAttributes.Note: (line: Int, lines: Int)] = [:]

    private var batch: IndexBatch
    private var pending: [Int] = []
    private var pendingBytes = 0
    private var pendingExpired = 0
    private var refusedInBatch = 0
    private var hasExplicitEnds = false
    private var wasDivided = false

    init(
        store: any EngineClient, scope: IndexScope, protection: ProtectionClass? = nil, linesPerBatch: Int,
        clientState: [UInt8]?,
        expectation: ClientStateExpectation, onDurable: @escaping (Int) throws -> Void
    ) {
        self.store = store
        self.scope = scope
        self.protection = protection
        self.linesPerBatch = linesPerBatch
        self.clientState = clientState
        self.expectation = expectation
        self.onDurable = onDurable
        batch = IndexBatch(scope: scope, protection: protection)
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
            case .item(let item, let notes):
                for note in notes { take(note, of: number) }
                // Checked only when there is a further item, because the batch may end after the
                // last line that fits.
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
            // If ends are explicit, the lines after the last end are an incomplete batch, which is
            // not donated.
            return dropBatch("the input ends before its batch does")
        }
        try await end(at: number, clientState: clientState)
    }

    private mutating func take(_ note: DonatedAttributes.Note, of line: Int) {
        if let known = notes[note] {
            notes[note] = (known.line, known.lines + 1)
        } else if notes.count < Self.maximumNotes {
            notes[note] = (line, 1)
        }
    }

    /// The notes on attributes, in line order.
    var attributeNotes: [Note] {
        notes.map { Note(attribute: $0.attribute, note: $0.text, line: $1.line, lines: $1.lines) }
            .sorted { ($0.line, $0.attribute, $0.note) < ($1.line, $1.attribute, $1.note) }
    }

    private mutating func refuse(_ line: Int, _ reason: String) {
        refused += 1
        refusedInBatch += 1
        if refusals.count < Self.maximumListed { refusals.append(Refusal(line: line, reason: reason)) }
    }

    private mutating func divideIfFull() async throws {
        if isOneBatch {
            if pendingBytes > Self.maximumBatchBytes {
                dropBatch("a batch has at most \(Self.maximumBatchBytes) bytes; split it")
                halt = "The batch is too large. Nothing is donated."
            }
        } else if pending.count >= linesPerBatch || pendingBytes >= Self.fullBatchBytes {
            wasDivided = true
            try await commit(nil, expecting: .any)
        }
    }

    /// Commits the lines since the last end. A client state asserts that everything before it is in
    /// the index, so a batch with a client state is committed as a whole or not at all.
    private mutating func end(at line: Int, clientState state: [UInt8]?) async throws {
        defer { (refusedInBatch, wasDivided) = (0, false) }
        guard state != nil || expectation != .any else { return try await commit(nil, expecting: .any) }
        if refusedInBatch > 0 {
            dropBatch(
                "another line of its batch is rejected, and a batch with a client state is accepted as a whole or not at all"
            )
            halt = "The batch that ends at line \(line) is rejected, and nothing after it is donated."
            return
        }
        if wasDivided {
            dropBatch("its batch has more than \(linesPerBatch) lines or \(Self.fullBatchBytes) bytes; see --batch")
            halt = """
                The batch that ends at line \(line) is too large for a client state. Its first part is donated; \
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
        batch = IndexBatch(scope: scope, protection: protection)
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
    /// `true` if the item has expired.
    fileprivate var hasExpired: Bool {
        guard case .at(let moment) = expiration, !isUpdate else { return false }
        return moment <= Date().timeIntervalSinceReferenceDate
    }
}
