// SPDX-License-Identifier: Apache-2.0

/// Pictures, or the beginnings of pictures.
enum Pictures {
    /// Returns the bytes before the pixels of a PNG.
    static func png(width: UInt32 = 1, height: UInt32 = 1) -> [UInt8] {
        func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + bytes(width)
            + bytes(height) + [8, 6, 0, 0, 0]
    }

    static func jpeg(width: UInt16, height: UInt16, before: [UInt8] = [0xFF, 0xE0, 0, 4, 1, 2]) -> [UInt8] {
        [0xFF, 0xD8] + before + [0xFF, 0xC0, 0, 17, 8, UInt8(height >> 8), UInt8(height & 0xFF), UInt8(width >> 8)]
            + [UInt8(width & 0xFF), 3]
    }

    static func gif(width: UInt8, height: UInt8) -> [UInt8] { Array("GIF89a".utf8) + [width, 0, height, 0, 0, 0, 0] }

    static func webp(_ kind: String, _ bytes: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP".utf8) + Array(kind.utf8) + [0, 0, 0, 0] + bytes
    }
}
