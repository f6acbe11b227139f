// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension PictureFile {
    /// The width and height of an item's thumbnail, in pixels.
    package static let thumbnailSide = 256
    /// The maximum size of an item's thumbnail, in bytes.
    package static let maximumThumbnail = 192 << 10

    /// Reads the picture. A fault in the contents is reported as ``PictureContent/problem``.
    ///
    /// - Parameters:
    ///   - cache: The desktop's thumbnails; nil to create every thumbnail.
    package func content(_ decoder: PictureDecoder = PictureDecoder(), cache: ThumbnailCache? = nil) -> PictureContent {
        var content = metadata()
        let stored = pixels()
        let cached = cache?.thumbnail(of: self)?.thumbnail(decoder)
        let side = cached == nil ? Self.thumbnailSide : 0
        if let stored {
            let (picture, problem) = decoder.decode(stored.source, stored.format, side: side)
            content.problem = problem
            setSize(of: picture, stored.size, &content)
            if picture.hasPixels, picture.orient(content.orientation) { content.thumbnail = Self.thumbnail(picture) }
        } else {
            content.problem = .noPreview
        }
        if let cached { content.thumbnail = cached }
        return content
    }

    /// The content for a picture that an earlier worker could not read.
    package static var unread: PictureContent {
        var content = PictureContent()
        content.problem = .endedWorker
        return content
    }

    /// Reads the properties, but not the pixels.
    func metadata() -> PictureContent {
        let source = PictureSource(file)
        var content = PictureContent()
        var blocks = MetadataBlocks(source, kind.format)
        if kind.format == .raw, let preview = RawPreview(source)?.source, TIFFFile(source) == nil {
            // For a raw file that is not a TIFF, the preview provides the properties.
            blocks = MetadataBlocks(preview, .jpeg)
        }
        if let reader = blocks.exif.flatMap({ ExifReader($0, into: content) }) {
            content = reader.content
            blocks.xmp = blocks.xmp ?? reader.xmp
            blocks.iptc = blocks.iptc ?? reader.iptc
        }
        if let records = blocks.iptc { IPTCReader.read(records, into: &content) }
        if let packet = blocks.xmp { content = XMPReader(packet).applied(to: content) }
        content.title = content.title ?? blocks.texts["Title"]
        content.description = content.description ?? blocks.texts["Description"] ?? blocks.texts["Comment"]
        content.copyright = content.copyright ?? blocks.texts["Copyright"]
        content.software = content.software ?? blocks.texts["Software"]
        if content.authors.isEmpty {
            content.authors = [blocks.texts["Author"].flatMap(MetadataText.entry)].compactMap { $0 }
        }
        // libheif has already rotated the picture.
        if kind.format == .heif { content.orientation = 1 }
        return content
    }

    /// Returns the part of the file that a decoder reads, and the size of the picture if it
    /// differs.
    private func pixels() -> (source: PictureSource, format: PictureKind.Format, size: (width: Int, height: Int)?)? {
        let source = PictureSource(file)
        guard kind.format == .raw else { return (source, kind.format, nil) }
        return RawPreview(source).map { ($0.source, .jpeg, $0.size) }
    }

    private func setSize(
        of decoded: DecodedPicture, _ stated: (width: Int, height: Int)?, _ content: inout PictureContent
    ) {
        let (width, height) = stated ?? (Int(decoded.picture.width), Int(decoded.picture.height))
        // A larger size is a fault in the file, and its number of pixels may overflow.
        guard (1..<Int(Int32.max)).contains(width), (1..<Int(Int32.max)).contains(height) else { return }
        let isTurned = content.orientation >= 5
        content.width = isTurned ? height : width
        content.height = isTurned ? width : height
        if decoded.picture.bits_per_sample > 0 { content.bitsPerSample = Int(decoded.picture.bits_per_sample) }
        content.isGray = decoded.picture.is_gray != 0
        content.hasAlpha = decoded.picture.has_alpha != 0
    }

    /// Returns a thumbnail of a decoded picture: a JPEG, or a PNG if the picture has transparency.
    static func thumbnail(_ picture: DecodedPicture) -> PictureContent.Thumbnail? {
        if picture.isTransparent, let bytes = picture.png(), bytes.count <= maximumThumbnail {
            return PictureContent.Thumbnail(bytes: bytes, contentType: "public.png")
        }
        guard let bytes = picture.jpeg(quality: 80), bytes.count <= maximumThumbnail else { return nil }
        return PictureContent.Thumbnail(bytes: bytes, contentType: "public.jpeg")
    }

    /// Returns an upright copy of the picture as JPEG or PNG.
    ///
    /// - Parameters:
    ///   - side: The maximum width and height of the copy, in pixels.
    ///   - withLocation: `true` to include where the picture was taken.
    package func copy(
        asPNG: Bool, side: Int, withLocation: Bool, _ decoder: PictureDecoder = PictureDecoder()
    ) throws(PictureProblem) -> [UInt8] {
        guard let stored = pixels() else { throw .noPreview }
        var content = metadata()
        let (picture, problem) = decoder.decode(stored.source, stored.format, side: side)
        if let problem, problem != .damaged || !picture.hasPixels { throw problem }
        guard picture.hasPixels, picture.orient(content.orientation) else { throw .tooLarge }
        if !withLocation { content.location = PictureLocation() }
        let exif = ExifWriter.block(content)
        guard let bytes = asPNG ? picture.png(exif: exif) : picture.jpeg(quality: 90, exif: exif) else {
            throw .tooLarge
        }
        return bytes
    }

    /// Returns a preview's properties and upright picture; nil for a picture that cannot be
    /// decoded.
    package func preview(
        side: Int, _ decoder: PictureDecoder
    ) -> (content: PictureContent, picture: PictureContent.Thumbnail?) {
        var content = metadata()
        guard let stored = pixels() else {
            content.problem = .noPreview
            return (content, nil)
        }
        let (picture, problem) = decoder.decode(stored.source, stored.format, side: side)
        content.problem = problem
        setSize(of: picture, stored.size, &content)
        guard picture.hasPixels, picture.orient(content.orientation) else { return (content, nil) }
        let isPNG = picture.isTransparent
        let bytes = isPNG ? picture.png() : picture.jpeg(quality: 85)
        return (
            content,
            bytes.map { PictureContent.Thumbnail(bytes: $0, contentType: isPNG ? "public.png" : "public.jpeg") }
        )
    }
}
