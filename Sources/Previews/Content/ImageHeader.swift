// SPDX-License-Identifier: Apache-2.0
import UniformTypeIdentifiers

/// The format and size of a picture, read from its first bytes without decoding it, because a
/// decoder would allocate memory for the claimed size.
public struct ImageHeader: Hashable, Sendable {
    /// The supported formats: raster images without scripts.
    public enum Format: String, Hashable, Sendable {
        /// The formats that all browsers support.
        case png, jpeg, gif, webp
    }

    /// The actual format, regardless of the declared type.
    public var format: Format
    /// The width, in pixels.
    public var width: Int
    /// The height, in pixels.
    public var height: Int

    /// The maximum side length of a displayed picture, in pixels.
    public static let maximumSide = 30_000
    /// The maximum number of pixels in a displayed picture: 400 MB in a browser.
    public static let maximumPixels = 100_000_000

    /// Reads the start of a picture; `nil` if its format is unknown or it has no size.
    public init?(_ bytes: ArraySlice<UInt8>) {
        let found: (Format, (Int, Int)?)
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            found = (.png, Self.pngSize(bytes))
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            found = (.jpeg, Self.jpegSize(bytes))
        } else if bytes.starts(with: Array("GIF87a".utf8)) || bytes.starts(with: Array("GIF89a".utf8)) {
            found = (.gif, Self.little(bytes, 6, 2).flatMap { width in Self.little(bytes, 8, 2).map { (width, $0) } })
        } else if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
            found = (.webp, Self.webpSize(bytes))
        } else {
            return nil
        }
        guard let (width, height) = found.1, width > 0, height > 0 else { return nil }
        (format, self.width, self.height) = (found.0, width, height)
    }

    /// The MIME type.
    public var mediaType: String { "image/\(format.rawValue)" }
    /// The uniform type.
    public var type: UTType {
        switch format {
        case .png: .png
        case .jpeg: .jpeg
        case .gif: .gif
        case .webp: .webP
        }
    }
    /// `true` if the picture claims more pixels than the limits allow.
    public var isTooLarge: Bool { max(width, height) > Self.maximumSide || width > Self.maximumPixels / height }

    private static func pngSize(_ bytes: ArraySlice<UInt8>) -> (Int, Int)? {
        guard bytes.dropFirst(12).starts(with: Array("IHDR".utf8)), let width = big(bytes, 16, 4),
            let height = big(bytes, 20, 4)
        else { return nil }
        return (width, height)
    }

    /// Returns the size from the first frame header (ITU T.81, B.2.2). Earlier segments are skipped
    /// by their lengths.
    private static func jpegSize(_ bytes: ArraySlice<UInt8>) -> (Int, Int)? {
        var offset = 2
        while let mark = byte(bytes, offset), mark == 0xFF, let kind = byte(bytes, offset + 1) {
            switch kind {
            // Fill bytes.
            case 0xFF: offset += 1
            case 0x01, 0xD0...0xD8: offset += 2
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard let height = big(bytes, offset + 5, 2), let width = big(bytes, offset + 7, 2) else { return nil }
                return (width, height)
            case 0xD9, 0xDA: return nil
            default:
                guard let length = big(bytes, offset + 2, 2), length >= 2 else { return nil }
                offset += 2 + length
            }
        }
        return nil
    }

    /// Returns the size from the first chunk (RFC 9649, section 2).
    private static func webpSize(_ bytes: ArraySlice<UInt8>) -> (Int, Int)? {
        let chunk = bytes.dropFirst(12)
        if chunk.starts(with: Array("VP8X".utf8)) {
            guard let width = little(bytes, 24, 3), let height = little(bytes, 27, 3) else { return nil }
            return (width + 1, height + 1)
        }
        if chunk.starts(with: Array("VP8L".utf8)) {
            guard byte(bytes, 20) == 0x2F, let bits = little(bytes, 21, 4) else { return nil }
            return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        }
        guard chunk.starts(with: Array("VP8 ".utf8)), let width = little(bytes, 26, 2),
            let height = little(bytes, 28, 2)
        else { return nil }
        return (width & 0x3FFF, height & 0x3FFF)
    }

    private static func byte(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt8? {
        offset < bytes.count ? bytes[bytes.startIndex + offset] : nil
    }

    private static func big(_ bytes: ArraySlice<UInt8>, _ offset: Int, _ count: Int) -> Int? {
        guard offset + count <= bytes.count else { return nil }
        return (0..<count).reduce(0) { $0 << 8 | Int(bytes[bytes.startIndex + offset + $1]) }
    }

    private static func little(_ bytes: ArraySlice<UInt8>, _ offset: Int, _ count: Int) -> Int? {
        guard offset + count <= bytes.count else { return nil }
        return (0..<count).reversed().reduce(0) { $0 << 8 | Int(bytes[bytes.startIndex + offset + $1]) }
    }
}
