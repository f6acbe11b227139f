// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import ServiceMessages

/// The clients' page cursors. A cursor contains a hash of its query and bundle, and a position.
///
/// Cursors are neither secret nor signed. A forged cursor is harmless, since a query's bundle never
/// comes from its cursor. The hash only detects that an app has confused two queries.
struct PageCursor {
    /// The query that a cursor belongs to.
    struct Query {
        private let mark: UInt64

        /// Creates the hash of a query.
        ///
        /// - Parameters:
        ///   - kind: The name of the method.
        ///   - bundle: The bundle whose items are queried.
        ///   - request: The request. Its attributes, limit and cursor may differ from page to page.
        init(kind: String, bundle: String, _ request: QueryPageRequest) {
            var hash = StableHash()
            for text in [kind, bundle, request.text] + request.filters { hash.add(text) }
            mark = hash.value
        }

        fileprivate var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: mark >> (8 * $0)) } }
    }
    private static let version: UInt8 = 2
    private static let headBytes = 9

    /// Encodes a position in a metadata query.
    static func bytes(_ cursor: QueryCursor, of query: Query) -> [UInt8] {
        head(query) + (0..<8).map { UInt8(truncatingIfNeeded: cursor.number >> (8 * $0)) }
    }

    /// Encodes a position in a search; `nil` after the last hit that a cursor can contain.
    ///
    /// - Parameter maximumHits: The maximum number of hits in a cursor.
    static func bytes(_ cursor: SearchCursor, of query: Query, maximumHits: Int) -> [UInt8]? {
        cursor.hitCount < maximumHits ? head(query) + cursor.bytes : nil
    }

    /// Decodes a position in a metadata query; `nil` for an empty cursor.
    ///
    /// - Throws: ``QueryRefusal``.
    static func queryCursor(_ bytes: [UInt8], of query: Query) throws(QueryRefusal) -> QueryCursor? {
        guard let place = try place(bytes, of: query) else { return nil }
        guard place.count == 8 else { throw .cursor }
        let number = place.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let number = Int64(exactly: number) else { throw .cursor }
        return QueryCursor(after: number)
    }

    /// Decodes a position in a search; `nil` for an empty cursor.
    ///
    /// - Parameter maximumHits: The maximum number of hits in a cursor.
    /// - Throws: ``QueryRefusal``.
    static func searchCursor(
        _ bytes: [UInt8], of query: Query, maximumHits: Int
    ) throws(QueryRefusal) -> SearchCursor? {
        guard bytes.count <= headBytes + SearchCursor.maximumBytes(hits: maximumHits) else { throw .cursor }
        guard let place = try place(bytes, of: query) else { return nil }
        guard let cursor = SearchCursor(bytes: place) else { throw .cursor }
        return cursor
    }

    private static func head(_ query: Query) -> [UInt8] { [version] + query.bytes }

    private static func place(_ bytes: [UInt8], of query: Query) throws(QueryRefusal) -> ArraySlice<UInt8>? {
        guard !bytes.isEmpty else { return nil }
        guard bytes.count > headBytes, bytes[..<headBytes].elementsEqual(head(query)) else { throw .cursor }
        return bytes[headBytes...]
    }
}

/// The FNV-1a hash of texts. It is the same in every process and not cryptographic.
struct StableHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Adds a text and a terminator.
    mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
        // 0xFF occurs in no UTF-8 text.
        add(0xFF)
    }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
