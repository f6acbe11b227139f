// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation

/// The bytes of a file in chunks, so that a large file is never completely in memory.
package struct FilePieces: AsyncSequence, AsyncIteratorProtocol {
    private let path: String
    private var handle: FileHandle?
    private let queue = DispatchQueue(label: "com.searchlight.window.file")

    /// The size of a chunk, in bytes.
    package static let pieceBytes = 1 << 20

    /// Creates the chunks of a file, which the first ``next()`` opens.
    package init(path: String) { self.path = path }

    package func makeAsyncIterator() -> FilePieces { self }

    /// Returns the next chunk; `nil` at the end.
    ///
    /// - Throws: The error of opening or reading.
    package mutating func next() async throws -> [UInt8]? {
        let open = handle
        let (handle, bytes): (FileHandle, [UInt8]) = try await withCheckedThrowingContinuation { continuation in
            queue.async { [path] in
                continuation.resume(
                    with: Result {
                        let handle = try open ?? FileHandle(forReadingFrom: URL(filePath: path))
                        return (handle, Array(try handle.read(upToCount: Self.pieceBytes) ?? Data()))
                    })
            }
        }
        self.handle = handle
        return bytes.isEmpty ? nil : bytes
    }
}
