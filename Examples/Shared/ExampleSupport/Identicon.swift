// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A small picture of a name: a symmetric pattern of squares, always the same one for a name.
public struct Identicon: Sendable {
    private static let side = 8
    private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Creates the picture of a name.
    public init(of name: String) {
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    /// The picture as a PNG of 64 by 64 pixels.
    public var png: Data {
        let ink = [8, 16, 24].map { UInt8(40 + (hash >> $0) & 127) }
        let rows = (0..<Self.side).map { row in
            (0..<Self.side).map { column in
                let bit = row * Self.side / 2 + min(column, Self.side - 1 - column)
                return (hash >> UInt64(bit)) & 1 == 1 ? ink : [245, 245, 245]
            }
        }
        return PNGPicture(rows, scale: 8).data
    }
}
