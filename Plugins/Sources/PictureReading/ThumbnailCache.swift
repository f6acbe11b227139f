// SPDX-License-Identifier: Apache-2.0
import CPictures
import FileReading
import Foundation

/// The desktop's thumbnails (freedesktop.org Thumbnail Managing Standard 0.9.0).
///
/// A thumbnail's name is the MD5 of the picture's URL. The thumbnail records the picture's
/// modification time.
package struct ThumbnailCache: Sendable {
    /// The folders with thumbnails at least as large as an item's: 256, 512 and 1,024 pixels.
    private static let folders = ["large", "x-large", "xx-large"]
    private static let maximumSize: Int64 = 4 << 20

    /// The absolute path of the cache.
    private let path: String

    /// - Parameter environment: Supplies `HOME` and `XDG_CACHE_HOME`.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let home = environment["HOME"] ?? NSHomeDirectory()
        let cache = environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        path = (cache ?? home + "/.cache") + "/thumbnails"
    }

    /// A thumbnail that is open but not decoded yet.
    struct Entry {
        fileprivate var source: PictureSource

        func thumbnail(_ decoder: PictureDecoder) -> PictureContent.Thumbnail? {
            let (picture, problem) = decoder.decode(source, .png, side: PictureFile.thumbnailSide)
            return problem == nil ? PictureFile.thumbnail(picture) : nil
        }
    }

    /// Returns the thumbnail for a picture in its current state; nil if there is none.
    func thumbnail(of picture: PictureFile) -> Entry? {
        guard let name = Self.name(of: picture.path) else { return nil }
        let modified = String(Int(picture.file.modified.timeIntervalSince1970))
        for folder in Self.folders {
            let file: OpenedFile
            do throws(SkipReason) {
                file = try OpenedFile(
                    in: nil, name: "\(path)/\(folder)/\(name)", followingLinks: false, opener: .system)
            } catch {
                continue
            }
            guard file.size <= Self.maximumSize else { continue }
            let source = PictureSource(file)
            let texts = MetadataBlocks(source, .png).texts
            if texts["Thumb::MTime"] == modified, texts["Thumb::URI"] == Self.address(of: picture.path) {
                return Entry(source: source)
            }
        }
        return nil
    }

    /// Returns the file name of a picture's thumbnail; nil if MD5 is not available on this system.
    static func name(of path: String) -> String? {
        let address = address(of: path)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 33) { buffer in
            guard let digest = buffer.baseAddress, picture_md5(address, address.utf8.count, digest) != 0 else {
                return nil
            }
            return String(cString: digest) + ".png"
        }
    }

    /// Returns the URL according to GLib's rules, which programs use: all bytes are escaped except
    /// letters, digits and `-._~!$&'()*+,:=@/`.
    static func address(of path: String) -> String {
        var address = "file://"
        for byte in path.utf8 {
            if byte.isUnescaped {
                address.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                address += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return address
    }
}

extension UInt8 {
    fileprivate var isUnescaped: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~!$&'()*+,:=@/".utf8.contains(self)
        }
    }
}
