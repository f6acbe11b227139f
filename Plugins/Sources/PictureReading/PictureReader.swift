// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension PictureFile {
    /// The width and height of a thumbnail in an item, in pixels.
    package static let thumbnailSide = 256
    /// The largest thumbnail in an item, in bytes.
    package static let maximumThumbnail = 192 << 10

    /// Reads the picture. Every fault of its contents is the content's ``PictureContent/problem``.
    ///
    /// - Parameters:
    ///   - cache: The thumbnails of the desktop; nil if each thumbnail is made.
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

    /// The content of a picture that an earlier worker could not read.
    package static var unread: PictureContent {
        var content = PictureContent()
        content.problem = .endedWorker
        return content
    }

    /// Reads the properties, without the pixels.
    func metadata() -> PictureContent {
        let source = PictureSource(file)
        var content = PictureContent()
        var blocks = MetadataBlocks(source, kind.format)
        if kind.format == .raw, let preview = RawPreview(source)?.source, TIFFFile(source) == nil {
            // The properties of a raw file that is no TIFF are those of its preview.
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
        // libheif has rotated the picture.
        if kind.format == .heif { content.orientation = 1 }
        return content
    }

    /// The part of the file that a decoder reads, and the size of the picture if it has another.
    private func pixels() -> (source: PictureSource, format: PictureKind.Format, size: (width: Int, height: Int)?)? {
        let source = PictureSource(file)
        guard kind.format == .raw else { return (source, kind.format, nil) }
        return RawPreview(source).map { ($0.source, .jpeg, $0.size) }
    }

    private func setSize(
        of decoded: DecodedPicture, _ stated: (width: Int, height: Int)?, _ content: inout PictureContent
    ) {
        let (width, height) = stated ?? (Int(decoded.picture.width), Int(decoded.picture.height))
        // A larger size is a fault of the file, and its number of pixels may not fit.
        guard (1..<Int(Int32.max)).contains(width), (1..<Int(Int32.max)).contains(height) else { return }
        let isTurned = content.orientation >= 5
        content.width = isTurned ? height : width
        content.height = isTurned ? width : height
        if decoded.picture.bits_per_sample > 0 { content.bitsPerSample = Int(decoded.picture.bits_per_sample) }
        content.isGray = decoded.picture.is_gray != 0
        content.hasAlpha = decoded.picture.has_alpha != 0
    }

    /// Returns a thumbnail of a decoded picture: a JPEG, or a PNG if a part is transparent.
    static func thumbnail(_ picture: DecodedPicture) -> PictureContent.Thumbnail? {
        if picture.isTransparent, let bytes = picture.png(), bytes.count <= maximumThumbnail {
            return PictureContent.Thumbnail(bytes: bytes, contentType: "public.png")
        }
        guard let bytes = picture.jpeg(quality: 80), bytes.count <= maximumThumbnail else { return nil }
        return PictureContent.Thumbnail(bytes: bytes, contentType: "public.jpeg")
    }

    /// Returns a copy of the picture, turned upright, as JPEG or PNG.
    ///
    /// - Parameters:
    ///   - side: The width and height that the copy has at most, in pixels.
    ///   - withLocation: `true` if the copy says where the picture was taken.
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

    /// Returns the properties and the upright picture of a preview; nil for a picture that cannot
    /// be decoded.
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
