// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import ServiceMessages

/// The cursors of clients: which query of which bundle they belong to, and the place in it.
///
/// They are not secret and not signed. A made-up one is harmless, because the bundle of a query never comes from it; the
/// mark of the query only tells an app that it has mixed up two queries.
struct PageCursor {
    /// What a cursor belongs to.
    struct Query {
        private let mark: UInt64

        /// - Parameters:
        ///   - kind: The name of the method.
        ///   - bundle: Whose items.
        ///   - request: What is asked; its attributes, limit and cursor may change from page to page.
        init(kind: String, bundle: String, _ request: QueryPageRequest) {
            var hash = StableHash()
            for text in [kind, bundle, request.text] + request.filters { hash.add(text) }
            mark = hash.value
        }

        fileprivate var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: mark >> (8 * $0)) } }
    }
    private static let version: UInt8 = 2
    private static let headBytes = 9

    /// The cursor of a place in a metadata query.
    static func bytes(_ cursor: QueryCursor, of query: Query) -> [UInt8] {
        head(query) + (0..<8).map { UInt8(truncatingIfNeeded: cursor.number >> (8 * $0)) }
    }

    /// The cursor of a place in a search; `nil` behind the last hit that a cursor may name.
    ///
    /// - Parameter maximumHits: The most hits that it may name.
    static func bytes(_ cursor: SearchCursor, of query: Query, maximumHits: Int) -> [UInt8]? {
        cursor.hitCount < maximumHits ? head(query) + cursor.bytes : nil
    }

    /// The place in a metadata query that a cursor names; `nil` for none.
    ///
    /// - Throws: ``QueryRefusal``.
    static func queryCursor(_ bytes: [UInt8], of query: Query) throws(QueryRefusal) -> QueryCursor? {
        guard let place = try place(bytes, of: query) else { return nil }
        guard place.count == 8 else { throw .cursor }
        let number = place.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let number = Int64(exactly: number) else { throw .cursor }
        return QueryCursor(after: number)
    }

    /// The place in a search that a cursor names; `nil` for none.
    ///
    /// - Parameter maximumHits: The most items it may name.
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

/// FNV-1a of texts: the same in every process, and no protection against anybody.
struct StableHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Adds a text and its end.
    mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
        // No byte of UTF-8.
        add(0xFF)
    }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
