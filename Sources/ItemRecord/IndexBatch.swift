// SPDX-License-Identifier: Apache-2.0

/// A list of changes of one index that become durable together with a client state, or not at all.
/// This type represents batches all the way from the app to the log.
///
/// ```swift
/// var batch = IndexBatch(scope: IndexScope(bundle: "com.example.notes"))
/// batch.delete(domains: ["drafts"])
/// batch.index([item])
/// ```
public struct IndexBatch: Hashable, Sendable {
    /// The index. An app leaves the bundle empty; the receiver sets it according to the connection.
    public var scope: IndexScope
    /// The changes, in order.
    public var changes: ChangeList
    /// The client state after the changes. `nil` keeps the current state; an empty array is a
    /// state.
    public var clientState: [UInt8]?
    /// The client state that the index must have for the batch to be accepted. Not logged.
    public var expectation: ClientStateExpectation
    /// The protection class of the index; `nil` to keep its current class. Not logged.
    public var protection: ProtectionClass?

    /// Creates a batch.
    public init(
        scope: IndexScope, changes: ChangeList = ChangeList(), clientState: [UInt8]? = nil,
        expecting expectation: ClientStateExpectation = .any, protection: ProtectionClass? = nil
    ) {
        self.protection = protection
        self.scope = scope
        self.changes = changes
        self.clientState = clientState
        self.expectation = expectation
    }

    /// Adds or replaces items.
    public mutating func index(_ items: [EncodedItem]) { for item in items { changes.append(record: item.bytes) } }

    /// Deletes items by identifier.
    public mutating func delete(identifiers: [String]) { append(.deleteItems(identifiers)) }

    /// Deletes domains and all their subdomains.
    public mutating func delete(domains: [String]) { append(.deleteDomains(domains)) }

    /// Changes the identifiers of items, all at the same time.
    public mutating func rename(_ renames: [ItemRename]) { append(.renameItems(renames)) }

    private mutating func append(_ change: EncodedChange) {
        if let change = change.meaningful { changes.append(change) }
    }

    /// Deletes everything, including the client state.
    public mutating func deleteAll() { changes.append(.deleteAll) }

    /// Returns the batch with a client state.
    public func with(
        clientState: [UInt8]?, expecting expectation: ClientStateExpectation = .any
    ) -> IndexBatch {
        IndexBatch(
            scope: scope, changes: changes, clientState: clientState, expecting: expectation, protection: protection)
    }

    /// The size of the changes and the client state, in bytes.
    public var byteCount: Int { changes.bytes.count + (clientState?.count ?? 0) }

    /// The approximate memory use of the batch while it is pending, in bytes.
    public var approximateBytes: Int { 64 * (1 + changes.count) + byteCount }

    /// The encoded items that the batch adds, replaces or updates, in their original order.
    public var records: some Sequence<ArraySlice<UInt8>> {
        changes.changes.lazy.flatMap { change -> [ArraySlice<UInt8>] in
            guard case .put(let batch) = change else { return [] }
            return (try? RecordBatch.split(batch)) ?? []
        }
    }

    /// The unique identifiers of the batch's items, and the new identifiers of its renames.
    public var itemIdentifiers: [String] {
        records.compactMap { try? ItemRecord.names(in: $0).identifier } + renames.map(\.newIdentifier)
    }

    /// The renames of the batch, in order.
    public var renames: some Sequence<ItemRename> {
        changes.changes.lazy.flatMap { change -> [ItemRename] in
            if case .renameItems(let renames) = change { renames } else { [] }
        }
    }

    /// The changes, with decoded items; invalid items are omitted.
    public var decodedChanges: some Sequence<IndexChange<[ItemRecord]>> {
        changes.changes.lazy.map { change in
            change.withRecords { ((try? RecordBatch.split($0)) ?? []).compactMap { try? ItemRecord(decoding: $0) } }
        }
    }

    /// The number of items that the batch adds, replaces or updates.
    public var itemCount: Int { records.reduce(0) { count, _ in count + 1 } }

    /// `true` if the batch adds, replaces or updates an item.
    public var hasItems: Bool {
        changes.changes.contains { if case .put(let records) = $0 { !records.isEmpty } else { false } }
    }

    /// `true` if the batch has content that an encrypted index must not store as plain text: items
    /// or a client state.
    public var needsEncryption: Bool { protection?.isEncrypted == true && (hasItems || clientState != nil) }

    /// The batch reduced to the changes after its last deletion of everything; `nil` if there is no
    /// such deletion.
    public var afterDeletingAll: IndexBatch? {
        guard let rest = changes.afterDeletingAll else { return nil }
        return IndexBatch(
            scope: scope, changes: rest, clientState: clientState, expecting: expectation, protection: protection)
    }

    /// Decodes every item and discards the result.
    ///
    /// - Throws: ``InvalidItem`` for the first invalid item, or for the first item in excess of
    ///   ``ChangeList/maximumChanges``.
    public func checkItems() throws(InvalidItem) {
        var count = 0
        for case .put(let batch) in changes.changes {
            do throws(ItemRecordError) {
                for record in try RecordBatch.split(batch) {
                    count += 1
                    guard count <= ChangeList.maximumChanges else {
                        throw .malformed(offset: 0, reason: "a batch has at most \(ChangeList.maximumChanges) items")
                    }
                    _ = try ItemRecord(decoding: record)
                }
            } catch {
                throw InvalidItem(number: max(1, count), error: error)
            }
        }
    }

    /// An item of a batch that cannot be decoded.
    public struct InvalidItem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The number of the item, from 1.
        public let number: Int
        /// The reason why the item cannot be decoded.
        public let error: ItemRecordError

        /// The error in one sentence.
        public var description: String { "Record \(number) of a donation is refused. \(error)" }
    }
}

// docs/ITEM-RECORD.md describes the format; keep it in sync.

extension IndexBatch {
    /// The longest bundle identifier or index name, in bytes.
    public static let maximumNameBytes = 4096

    private enum Flag {
        static let index: UInt8 = 1
        static let clientState: UInt8 = 2
        static let expectsNone: UInt8 = 4
        static let expectsState: UInt8 = 8
        static let protection: UInt8 = 16
        static let all: UInt8 = 31
    }

    /// A limit that a batch exceeds.
    public struct TooLarge: Error, Hashable, Sendable {
        /// The limited quantity.
        public let what: String
        /// The actual value.
        public let value: Int
        /// The largest allowed value.
        public let limit: Int
    }

    /// Returns the encoded batch up to its changes. Equal batches have equal encodings.
    ///
    /// - Throws: ``TooLarge``.
    public func encodedHead() throws(TooLarge) -> [UInt8] {
        var bytes: [UInt8] = [0]
        try Self.append(scope.bundle, "bytes of bundle identifier", to: &bytes)
        if let index = scope.index {
            bytes[0] |= Flag.index
            try Self.append(index, "bytes of index name", to: &bytes)
        }
        if let clientState {
            bytes[0] |= Flag.clientState
            try Self.append(clientState, to: &bytes)
        }
        switch expectation {
        case .any: break
        case .exactly(nil): bytes[0] |= Flag.expectsNone
        case .exactly(let state?):
            bytes[0] |= Flag.expectsState
            try Self.append(state, to: &bytes)
        }
        if let protection, let number = ProtectionClass.allCases.firstIndex(of: protection) {
            bytes[0] |= Flag.protection
            bytes.append(UInt8(number))
        }
        return bytes
    }

    /// Returns the encoded batch.
    ///
    /// - Throws: ``TooLarge``.
    public func encoded() throws(TooLarge) -> [UInt8] { try encodedHead() + changes.bytes }

    /// Decodes a batch that makes up all of `bytes`, without decoding its items.
    ///
    /// - Parameter maximumBytes: The largest size of its changes, in bytes.
    /// - Throws: ``ItemRecordError``. Never traps, for any bytes.
    public init(decoding bytes: UnsafeRawBufferPointer, maximumBytes: Int) throws(ItemRecordError) {
        var reader = RecordReader(bytes: bytes.bindMemory(to: UInt8.self))
        let flags = try reader.byte()
        guard flags & ~Flag.all == 0, flags & Flag.expectsNone == 0 || flags & Flag.expectsState == 0 else {
            throw .malformed(offset: 0, reason: "unknown flags \(flags)")
        }
        scope = IndexScope(bundle: try reader.shortText())
        if flags & Flag.index != 0 { scope.index = try reader.shortText() }
        clientState = flags & Flag.clientState != 0 ? try reader.state() : nil
        expectation = .any
        if flags & Flag.expectsNone != 0 { expectation = .exactly(nil) }
        if flags & Flag.expectsState != 0 { expectation = .exactly(try reader.state()) }
        if flags & Flag.protection != 0 {
            let number = Int(try reader.byte())
            guard ProtectionClass.allCases.indices.contains(number) else {
                throw .malformed(offset: reader.offset - 1, reason: "unknown protection class \(number)")
            }
            protection = ProtectionClass.allCases[number]
        }
        changes = try ChangeList(decoding: Array(bytes[reader.offset...]), maximumBytes: maximumBytes)
    }

    private static func append(_ text: String, _ what: String, to bytes: inout [UInt8]) throws(TooLarge) {
        let count = text.utf8.count
        guard count <= maximumNameBytes else { throw TooLarge(what: what, value: count, limit: maximumNameBytes) }
        bytes += [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
        bytes += text.utf8
    }

    private static func append(_ state: [UInt8], to bytes: inout [UInt8]) throws(TooLarge) {
        let limit = ClientState.maximumBytes
        guard state.count <= limit else {
            throw TooLarge(what: "bytes of client state", value: state.count, limit: limit)
        }
        bytes.append(UInt8(state.count))
        bytes += state
    }
}

extension RecordReader {
    fileprivate mutating func shortText() throws(ItemRecordError) -> String {
        let start = offset
        let length = Int(try byte()) | Int(try byte()) << 8
        guard length <= IndexBatch.maximumNameBytes else {
            throw .malformed(offset: start, reason: "a name has \(length) bytes")
        }
        return try text(length)
    }

    fileprivate mutating func state() throws(ItemRecordError) -> [UInt8] {
        let start = offset
        let length = Int(try byte())
        guard length <= ClientState.maximumBytes else {
            throw .malformed(offset: start, reason: "a client state has \(length) bytes")
        }
        return try take(length)
    }
}
