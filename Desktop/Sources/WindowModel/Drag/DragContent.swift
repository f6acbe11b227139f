// SPDX-License-Identifier: Apache-2.0
import Promises

/// The content of a drag, as a drag source needs it. May be used from any task.
package protocol DragContent: Sendable {
    /// The title of the item, for messages.
    var title: String { get }
    /// The offered media types, best first.
    var mediaTypes: [String] { get }

    /// Announces that requests are near.
    func prewarm() async

    /// The content of a media type.
    ///
    /// - Throws: ``DragFailure`` with a message for the user.
    func content(of mediaType: String) async throws(DragFailure) -> DroppedContent

    /// Ends a drag without a drop.
    func discard() async
}

/// The content for a receiver.
package enum DroppedContent: Sendable {
    /// Bytes.
    case bytes([UInt8])
    /// A complete file with the bytes.
    case file(path: String)

    /// The content in pieces, for a writer that waits after each.
    package func forEachPiece(_ body: ([UInt8]) async throws -> Void) async throws {
        switch self {
        case .bytes(let bytes): try await body(bytes)
        case .file(let path): for try await piece in FilePieces(path: path) { try await body(piece) }
        }
    }
}
