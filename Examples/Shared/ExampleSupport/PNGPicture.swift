// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A picture as a PNG. It is not compressed, so that an example needs no library for it.
public struct PNGPicture: Sendable {
    private let width: Int
    private let pixels: [UInt8]

    /// Creates a picture.
    ///
    /// - Parameters:
    ///   - rows: The colours of the squares, as red, green and blue. All rows have the same length.
    ///   - scale: The side of a square in pixels.
    public init(_ rows: [[[UInt8]]], scale: Int) {
        width = (rows.first?.count ?? 0) * scale
        var pixels: [UInt8] = []
        for row in rows {
            // The byte before each line says that the line is not filtered.
            var line: [UInt8] = [0]
            for square in row { for _ in 0..<scale { line += square } }
            for _ in 0..<scale { pixels += line }
        }
        self.pixels = pixels
    }

    /// The bytes of the file.
    public var data: Data {
        let height = width == 0 ? 0 : pixels.count / (3 * width + 1)
        var data = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        data += chunk("IHDR", bytes(UInt32(width)) + bytes(UInt32(height)) + [8, 2, 0, 0, 0])
        data += chunk("IDAT", stream)
        data += chunk("IEND", [])
        return data
    }

    /// The pixels in blocks of stored data, each with a length of two bytes, in the format of zlib.
    private var stream: [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: pixels.count, by: 0xFFFF) {
            let block = pixels[start..<min(pixels.count, start + 0xFFFF)]
            let length = [UInt8(block.count & 0xFF), UInt8(block.count >> 8)]
            stream.append(block.endIndex == pixels.count ? 1 : 0)
            stream += length + length.map { ~$0 } + block
        }
        var (low, high) = (UInt32(1), UInt32(0))
        for value in pixels {
            low = (low + UInt32(value)) % 65521
            high = (high + low) % 65521
        }
        return stream + bytes(high << 16 | low)
    }

    private func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 0xFF) } }

    private func chunk(_ name: String, _ content: [UInt8]) -> Data {
        let body = Array(name.utf8) + content
        return Data(bytes(UInt32(content.count)) + body + bytes(checksum(body)))
    }

    private func checksum(_ values: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for value in values {
            let index = Int(UInt8(truncatingIfNeeded: sum) ^ value)
            sum = Self.table[index] ^ (sum >> 8)
        }
        return ~sum
    }

    private static let table: [UInt32] = (0..<256).map { (number: UInt32) -> UInt32 in
        var sum = number
        for _ in 0..<8 {
            let isOdd = sum & 1 == 1
            sum >>= 1
            if isOdd { sum ^= 0xEDB8_8320 }
        }
        return sum
    }
}
