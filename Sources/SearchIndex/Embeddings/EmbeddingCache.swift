// SPDX-License-Identifier: Apache-2.0
import GRDB
import SemanticEmbedding
import Synchronization

/// A store's embeddings in memory, for scans. The first search by meaning loads them, later
/// searches keep them up to date, and ``release()`` frees them.
///
/// A deleted item's row stays until the rows are reloaded, so a caller checks that the row of a hit
/// still exists (``MeaningRanking``). May be used from any thread; scans run one after another.
final class EmbeddingCache: Sendable {
    /// The rows, ordered by number.
    struct Rows: Sendable {
        fileprivate let epoch: Int64
        fileprivate var table: EmbeddingTable
        /// The number of rows ever deleted from the table when the rows were read.
        fileprivate let deleted: Int64
        fileprivate(set) var numbers: [Int64] = []
        fileprivate(set) var items: [Int64] = []
        fileprivate(set) var bundles: [Int64] = []

        fileprivate init(_ state: EmbeddingTables.State) {
            (epoch, deleted, table) = (state.epoch, state.deleted, EmbeddingTable(width: state.width))
        }

        /// Returns the position of a row; `nil` if it is not in memory.
        func position(of number: Int64) -> Int? {
            var (lower, upper) = (0, numbers.count)
            while lower < upper {
                let middle = (lower + upper) / 2
                if numbers[middle] < number { lower = middle + 1 } else { upper = middle }
            }
            return lower < numbers.count && numbers[lower] == number ? lower : nil
        }
    }

    /// The largest number of rows, which occupy 400 MB. Further rows are not searched.
    static let maximumRows = 1_000_000
    /// The share of deleted rows above which the rows are reloaded.
    private static let (deletedShare, fewestDeleted): (Int64, Int64) = (8, 1000)

    private let rows = Mutex<Rows?>(nil)
    /// The items with a damaged row.
    private let damaged = Mutex<Set<Int64>>([])
    private static let maximumDamaged = 1000

    /// Runs a body with the rows of one state of the store.
    func withRows<Value: Sendable>(
        _ state: EmbeddingTables.State, _ db: Database, _ body: (borrowing Rows) throws -> Value
    ) throws -> Value {
        // The lock is held during the read, so that concurrent searches do not read the same rows.
        let result: Result<Value, any Error> = rows.withLock { cached in
            Result {
                var rows = cached.take() ?? Rows(state)
                let deleted = state.deleted - rows.deleted
                let isStale = deleted > Swift.max(Self.fewestDeleted, Int64(rows.numbers.count) / Self.deletedShare)
                if rows.epoch != state.epoch || rows.table.width != state.width || isStale { rows = Rows(state) }
                try append(to: &rows, db)
                let value = try body(rows)
                cached = rows
                return value
            }
        }
        return try result.get()
    }

    /// Frees the memory.
    func release() { rows.withLock { $0 = nil } }

    /// `true` if rows are in memory.
    var isLoaded: Bool { rows.withLock { $0 != nil } }

    /// Returns the items with damaged rows that were found since the last call.
    func takeDamaged() -> [Int64] {
        damaged.withLock { damaged in
            defer { damaged = [] }
            return damaged.sorted()
        }
    }

    /// `true` if damaged rows were found since the last call to ``takeDamaged()``.
    var hasDamaged: Bool { damaged.withLock { !$0.isEmpty } }

    /// Appends the rows that were added since the last read. Skips damaged rows.
    private func append(to rows: inout Rows, _ db: Database) throws {
        let last = rows.numbers.last ?? 0
        if rows.numbers.isEmpty {
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM embedding") ?? 0
            let wanted = min(count, Self.maximumRows)
            rows.table.reserve(wanted)
            for path in [\Rows.numbers, \Rows.items, \Rows.bundles] { rows[keyPath: path].reserveCapacity(wanted) }
        }
        let statement = try ReadStatement(
            db,
            sql: """
                SELECT id, item, bundle, passage, start, size, scale, vector, checksum FROM embedding
                WHERE id > ? ORDER BY id
                """)
        try statement.forEachRow {
            try $0.bind(last, at: 1)
        } _: { row in
            guard rows.numbers.count < Self.maximumRows else { return false }
            guard let number = row.integer(at: 0), let item = row.integer(at: 1) else { return true }
            guard let bundle = row.integer(at: 2), let passage = row.integer(at: 3), let start = row.integer(at: 4),
                let size = row.integer(at: 5), let scale = row.double(at: 6), let vector = row.bytes(at: 7),
                vector.count == rows.table.width, start >= 0, size >= 0, start <= Int32.max, size <= Int32.max,
                row.integer(at: 8)
                    == EmbeddingTables.checksum(
                        item: item, bundle: bundle, passage: Int(passage), Int(start)..<Int(start + size), Float(scale),
                        UnsafeRawBufferPointer(vector))
            else {
                damaged.withLock { if $0.count < Self.maximumDamaged { $0.insert(item) } }
                return true
            }
            vector.withMemoryRebound(to: Int8.self) { rows.table.append(components: $0, scale: Float(scale)) }
            rows.numbers.append(number)
            rows.items.append(item)
            rows.bundles.append(bundle)
            return true
        }
        rows.table.completeCodes()
    }
}

extension EmbeddingCache.Rows {
    /// Scans the rows, as `EmbeddingTable` does.
    func best(_ count: Int, for query: [Float], filter: [UInt64]?) -> [EmbeddingHit] {
        table.best(count, for: query, filter: filter)
    }

    /// Returns rows with their similarities, the best first.
    func similarities(of positions: [Int], to query: [Float]) -> [EmbeddingHit] {
        table.similarities(of: positions, to: query)
    }

    /// Returns the bitmap of some rows.
    func bitmap(_ positions: some Sequence<Int>) -> [UInt64] {
        var bitmap = [UInt64](repeating: 0, count: (numbers.count + 63) / 64)
        for position in positions { bitmap[position / 64] |= 1 << UInt64(position % 64) }
        return bitmap
    }
}
