// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// One page of a reindex of everything: where it begins, and how much it may take.
public struct ReindexPage: Sendable, Hashable {
    /// What the page before ended with; `nil` for the first. At most ``maximumCursorBytes``.
    public var cursor: [UInt8]?
    /// The page ends after about so many items,
    public var items: UInt32
    /// or after so long, in milliseconds, whichever comes first.
    public var milliseconds: UInt32
    /// What the worker may take, in bytes; over it, it is ended.
    public var memoryLimit: UInt64

    /// The longest cursor, in bytes (`SEARCHLIGHT_CURSOR_MAX`).
    public static let maximumCursorBytes = 4096

    /// Creates a request.
    public init(cursor: [UInt8]?, items: UInt32, milliseconds: UInt32, memoryLimit: UInt64) {
        self.cursor = cursor
        self.items = items
        self.milliseconds = milliseconds
        self.memoryLimit = memoryLimit
    }

    /// The arguments that carry the request.
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

/// How a page of a reindex ended.
public struct ReindexPageReply: Sendable, Hashable {
    /// Where the next page begins; `nil` after the last one. Empty is a cursor.
    public var next: [UInt8]?

    /// Creates a reply.
    public init(next: [UInt8]?) { self.next = next }

    /// The arguments that carry the reply.
    public var arguments: [BusValue] { [.boolean(next != nil), .bytes(next ?? [])] }

    /// Reads a reply from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``, also for a cursor that is too long.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        let isThere = try arguments.boolean()
        let bytes = try arguments.bytes()
        guard bytes.count <= ReindexPage.maximumCursorBytes else {
            throw .malformed("a cursor has \(bytes.count) bytes; the limit is \(ReindexPage.maximumCursorBytes)")
        }
        next = isThere ? bytes : nil
    }
}
