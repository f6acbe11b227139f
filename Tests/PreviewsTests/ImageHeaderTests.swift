// SPDX-License-Identifier: Apache-2.0
import Previews
import TestSupport
import Testing

@Suite("Headers of pictures")
struct ImageHeaderTests {
    private func header(_ bytes: [UInt8]) -> ImageHeader? { ImageHeader(([7] + bytes)[1...]) }

    @Test("Format and size are read from the first bytes")
    func formats() throws {
        let expected: [([UInt8], ImageHeader.Format, Int, Int)] = [
            (Pictures.png(width: 70_000, height: 2), .png, 70_000, 2),
            (Pictures.jpeg(width: 640, height: 480), .jpeg, 640, 480),
            (Pictures.jpeg(width: 300, height: 5, before: [0xFF, 0xFF, 0xE1, 0, 3, 9]), .jpeg, 300, 5),
            (Pictures.gif(width: 9, height: 8), .gif, 9, 8),
            (Pictures.webp("VP8X", [0, 0, 0, 0, 0xFF, 0x01, 0, 0x0F, 0, 0]), .webp, 512, 16),
            (Pictures.webp("VP8L", [0x2F, 0x07, 0xC0, 0x00, 0x00]), .webp, 8, 4),
            (Pictures.webp("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A, 0x10, 0x40, 0x20, 0x80]), .webp, 16, 32),
        ]
        for (bytes, format, width, height) in expected {
            let found = try #require(header(bytes), "\(format)")
            #expect(found.format == format && found.width == width && found.height == height, "\(format)")
            // If truncated at any point, the header has no size, and no bytes beyond the end are
            // requested.
            for count in 0..<bytes.count where format != .gif || count < 10 { _ = self.header(Array(bytes[..<count])) }
            #expect(self.header(Array(bytes[..<9])) == nil)
        }
    }

    @Test("A picture without a size is rejected")
    func none() {
        #expect(header(Pictures.png(width: 0)) == nil)
        #expect(header(Pictures.jpeg(width: 1, height: 0)) == nil)
        #expect(header([0xFF, 0xD8, 0xFF, 0xDA, 0, 0]) == nil)
        #expect(header([0xFF, 0xD8, 0xFF, 0xE0, 0, 0]) == nil)
        #expect(header(Array("<svg/>".utf8)) == nil)
        #expect(header([]) == nil)
    }

    @Test(
        "Too many pixels are distinguished from a panorama",
        arguments: [
            (100_000, 100_000, true), (30_000, 3000, false), (30_001, 1, true), (10_000, 10_000, false),
            (10_001, 10_000, true),
            (UInt32.max, UInt32.max, true),
        ] as [(UInt32, UInt32, Bool)])
    func pixels(width: UInt32, height: UInt32, isTooLarge: Bool) {
        #expect(header(Pictures.png(width: width, height: height))?.isTooLarge == isTooLarge)
    }

    @Test("Random bytes after a valid beginning are read without a trap", arguments: [41] as [UInt64])
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let starts: [[UInt8]] = [
            [0xFF, 0xD8, 0xFF], Array("GIF89a".utf8), Pictures.webp("VP8X", []), Array(Pictures.png().prefix(8)),
        ]
        for _ in 0..<3000 {
            let bytes =
                random.pick(starts)
                + (0..<random.below(40)).map { _ in UInt8(random.below(4) == 0 ? 0xFF : random.below(256)) }
            if let found = header(bytes) { #expect(found.width > 0 && found.height > 0) }
        }
    }
}
