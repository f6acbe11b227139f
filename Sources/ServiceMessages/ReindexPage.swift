// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request for one page of a reindex: its start and its limits.
public struct ReindexPage: Sendable, Hashable {
    /// The cursor of the previous page; `nil` for the first page. At most ``maximumCursorBytes``.
    public var cursor: [UInt8]?
    /// The approximate number of items after which the page should end.
    public var items: UInt32
    /// The time, in milliseconds, after which the page should end.
    public var milliseconds: UInt32
    /// The worker's memory limit in bytes. A worker that exceeds it is terminated.
    public var memoryLimit: UInt64

    /// The maximum length of a cursor in bytes (`SEARCHLIGHT_CURSOR_MAX`).
    public static let maximumCursorBytes = 4096

    /// Creates a request.
    public init(cursor: [UInt8]?, items: UInt32, milliseconds: UInt32, memoryLimit: UInt64) {
        self.cursor = cursor
        self.items = items
        self.milliseconds = milliseconds
        self.memoryLimit = memoryLimit
    }

    /// The arguments of the request.
    var arguments: [BusValue] {
        ReindexPageReply(next: cursor).arguments + [
            .unsigned(UInt64(items)), .unsigned(UInt64(milliseconds)), .unsigned(memoryLimit),
        ]
    }

    init(_ arguments: inout BusArguments) throws(BusError) {
        cursor = try ReindexPageReply(&arguments).next
        items = UInt32(clamping: try arguments.unsigned())
        milliseconds = UInt32(clamping: try arguments.unsigned())
        memoryLimit = try arguments.unsigned()
    }
}

/// The reply that ends one page of a reindex.
public struct ReindexPageReply: Sendable, Hashable {
    /// The cursor of the next page; `nil` after the last page. An empty cursor is valid.
    public var next: [UInt8]?

    /// Creates a reply.
    public init(next: [UInt8]?) { self.next = next }

    /// The arguments of the reply.
    public var arguments: [BusValue] { [.boolean(next != nil), .bytes(next ?? [])] }

    /// Reads a reply from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``, including for a cursor that is too long.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        let isThere = try arguments.boolean()
        let bytes = try arguments.bytes()
        guard bytes.count <= ReindexPage.maximumCursorBytes else {
            throw .malformed("a cursor has \(bytes.count) bytes; the limit is \(ReindexPage.maximumCursorBytes)")
        }
        next = isThere ? bytes : nil
    }
}
