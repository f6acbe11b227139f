// SPDX-License-Identifier: Apache-2.0
import CPictures
import Glibc

/// A decoded picture of bounded size, as RGBA.
///
/// Owns the pixels, which a C function allocated.
final class DecodedPicture {
    fileprivate(set) var picture: CPictures.picture

    fileprivate init(_ picture: CPictures.picture) { self.picture = picture }

    deinit { picture_free(&picture) }

    var hasPixels: Bool { picture.pixels != nil }

    /// `true` if any pixel is transparent.
    var isTransparent: Bool {
        guard let pixels = picture.pixels else { return false }
        let bytes = UnsafeBufferPointer(start: pixels, count: 4 * Int(picture.columns) * Int(picture.rows))
        return stride(from: 3, to: bytes.count, by: 4).contains { bytes[$0] < 255 }
    }

    /// Rotates and mirrors the picture according to its EXIF orientation.
    func orient(_ orientation: Int) -> Bool { picture_orient(&picture, Int32(orientation)) != 0 }

    func jpeg(quality: Int, exif: [UInt8] = []) -> [UInt8]? {
        bytes { picture_copy_jpeg(&picture, Int32(quality), exif.isEmpty ? nil : exif, exif.count, $0) }
    }

    func png(exif: [UInt8] = []) -> [UInt8]? {
        bytes { picture_copy_png(&picture, exif.isEmpty ? nil : exif, exif.count, $0) }
    }

    private func bytes(_ encode: (UnsafeMutablePointer<Int>) -> UnsafeMutablePointer<UInt8>?) -> [UInt8]? {
        var length = 0
        guard let bytes = encode(&length) else { return nil }
        defer { free(bytes) }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
    }
}

/// Decodes pictures within memory and time limits.
package struct PictureDecoder {
    /// The maximum time to decode a picture, in seconds.
    package static let maximumSeconds = 10

    /// The clock for the time limit.
    package var now: () -> ContinuousClock.Instant
    /// Called regularly while a picture is decoded; decoding ends when it returns `true`.
    package var isCancelled: () -> Bool

    package init(
        now: @escaping () -> ContinuousClock.Instant = { ContinuousClock.now },
        isCancelled: @escaping () -> Bool = { false }
    ) {
        self.now = now
        self.isCancelled = isCancelled
    }

    /// Decodes a picture to at most `side` pixels in width and height; if `side` is 0, reads only
    /// the size. If there is a problem, the picture contains what was read before it.
    func decode(
        _ source: PictureSource, _ format: PictureKind.Format, side: Int
    ) -> (picture: DecodedPicture, problem: PictureProblem?) {
        /// The state shared with calls from C.
        final class Clock {
            let isOver: () -> Bool
            init(_ isOver: @escaping () -> Bool) { self.isOver = isOver }
        }
        let deadline = now() + .seconds(Self.maximumSeconds)
        let clock = Clock { now() > deadline || isCancelled() }
        var picture = CPictures.picture()
        let result = withExtendedLifetime(clock) {
            source.withCSource { source in
                picture_decode(
                    format.decoder, source, UInt32(side),
                    { context in
                        guard let context else { return 0 }
                        return Unmanaged<Clock>.fromOpaque(context).takeUnretainedValue().isOver() ? 0 : 1
                    }, Unmanaged.passUnretained(clock).toOpaque(), &picture)
            }
        }
        return (DecodedPicture(picture), Self.problem(result ?? PICTURE_DAMAGED))
    }

    private static func problem(_ result: picture_result) -> PictureProblem? {
        switch result {
        case PICTURE_DECODED: nil
        case PICTURE_TOO_LARGE: .tooLarge
        case PICTURE_STOPPED: .tooSlow
        case PICTURE_NO_LIBRARY: .noHEIFLibrary
        default: .damaged
        }
    }
}

extension PictureKind.Format {
    fileprivate var decoder: picture_format {
        switch self {
        case .jpeg, .raw: PICTURE_JPEG
        case .png: PICTURE_PNG
        case .tiff: PICTURE_TIFF
        case .webP: PICTURE_WEBP
        case .gif: PICTURE_GIF
        case .heif: PICTURE_HEIF
        }
    }
}
