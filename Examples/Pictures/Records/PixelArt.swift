// SPDX-License-Identifier: Apache-2.0
import ExampleSupport
import Foundation

/// A picture in the app's own format, a text file: the title in the first line, a caption in the
/// second, an empty line, and one letter for each square.
public struct PixelArt: Hashable, Sendable {
    /// The title.
    public let title: String
    /// The caption.
    public let caption: String
    /// The letters of the squares, in rows.
    public let rows: [String]

    private static let maximumBytes = 64 << 10
    private static let maximumSide = 64
    private static let scale = 8

    /// Reads a picture from the bytes of a file; `nil` if they are not one, or too large.
    public init?(_ data: Data) {
        guard data.count <= Self.maximumBytes, let text = String(data: data, encoding: .utf8) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count > 3, lines[2].isEmpty, !lines[0].slug.isEmpty else { return nil }
        (title, caption) = (lines[0], lines[1])
        rows = lines.dropFirst(3).filter { !$0.isEmpty }
        guard let width, (1...Self.maximumSide).contains(width), rows.count <= Self.maximumSide else { return nil }
    }

    /// The number of squares in a row.
    public var width: Int? { rows.map(\.count).max() }

    /// The identifier, also of the item in the index.
    public var id: String { title.slug }

    /// The picture in a format that every app reads.
    public var png: Data {
        let width = width ?? 0
        let squares = rows.map { row in
            (row + String(repeating: ".", count: width - row.count)).map { Self.colours[$0] ?? Self.other }
        }
        return PNGPicture(squares, scale: Self.scale).data
    }

    /// The size in pixels.
    public var size: (width: Int, height: Int) { ((width ?? 0) * Self.scale, rows.count * Self.scale) }

    private static let other: [UInt8] = [120, 120, 120]
    private static let colours: [Character: [UInt8]] = [
        ".": [255, 255, 255], "K": [20, 20, 20], "R": [204, 51, 51], "G": [51, 153, 68], "B": [51, 85, 204],
        "Y": [238, 204, 51], "W": [245, 245, 235], "N": [136, 85, 51],
    ]
}
