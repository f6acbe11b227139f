// SPDX-License-Identifier: Apache-2.0
import Promises

/// The content of a drag, as a drag source needs it. May be used from any task.
package protocol DragContent: Sendable {
    /// The title of the item, for messages.
    var title: String { get }
    /// The offered media types, best first.
    var mediaTypes: [String] { get }

    /// Announces that requests will follow soon.
    func prewarm() async

    /// Returns the content for a media type.
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
    /// A complete file that contains the bytes.
    case file(path: String)
    /// A complete file to which the file-transfer portal gives access.
    case transfer(path: String)

    /// Passes the bytes on in chunks. The next chunk follows when the body returns. Content for the
    /// portal has no bytes.
    package func forEachPiece(_ body: ([UInt8]) async throws -> Void) async throws {
        switch self {
        case .bytes(let bytes): try await body(bytes)
        case .transfer: break
        case .file(let path): for try await piece in FilePieces(path: path) { try await body(piece) }
        }
    }
}
