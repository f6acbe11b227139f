// SPDX-License-Identifier: Apache-2.0
import CPictures
import Glibc

/// The metadata blocks in a picture file: EXIF, XMP, IPTC, and PNG texts.
struct MetadataBlocks {
    /// A TIFF structure without the `Exif` header.
    var exif: PictureSource?
    var xmp: [UInt8]?
    var iptc: [UInt8]?
    var texts: [String: String] = [:]

    /// The maximum number of segments or chunks that are visited.
    private static let maximumChunks = 4096
    /// The maximum size of the EXIF block, in bytes.
    private static let maximumExif = 4 << 20

    /// Finds the blocks in a file, up to the first fault.
    init(_ source: PictureSource, _ format: PictureKind.Format) {
        switch format {
        case .jpeg: readJPEG(source)
        case .png: readPNG(source)
        case .webP: readWebP(source)
        case .heif: readHEIF(source)
        case .tiff, .raw: exif = source
        case .gif: break
        }
    }

    // MARK: JPEG

    private static let exifHeader = Array("Exif\0\0".utf8)
    private static let xmpHeader = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let photoshopHeader = Array("Photoshop 3.0\0".utf8)

    /// Reads the segments that precede the pixels (ITU T.81, annex B).
    private mutating func readJPEG(_ source: PictureSource) {
        var offset = 2
        var photoshop: [UInt8] = []
        for _ in 0..<Self.maximumChunks {
            let head = source.read(at: offset, count: 4)
            guard head.count == 4, head[0] == 0xFF else { break }
            if head[1] == 0xFF {
                // A marker may be preceded by fill bytes.
                offset += 1
                continue
            }
            guard head[1] != 0xDA, head[1] != 0xD9, let length = head.number(at: 2, bytes: 2), length >= 2 else {
                break
            }
            if head[1] == 0xE1 {
                let segment = source.read(at: offset + 4, count: length - 2)
                if exif == nil, segment.starts(with: Self.exifHeader) {
                    exif = PictureSource(Array(segment.dropFirst(Self.exifHeader.count)))
                } else if xmp == nil, segment.starts(with: Self.xmpHeader) {
                    xmp = Array(segment.dropFirst(Self.xmpHeader.count))
                }
            } else if head[1] == 0xED, photoshop.count < Self.maximumExif {
                let segment = source.read(at: offset + 4, count: length - 2)
                if segment.starts(with: Self.photoshopHeader) {
                    photoshop += segment.dropFirst(Self.photoshopHeader.count)
                }
            }
            offset += 2 + length
        }
        iptc = IPTCReader.records(inPhotoshopResources: photoshop)
    }

    // MARK: PNG

    private mutating func readPNG(_ source: PictureSource) {
        var offset = 8
        for _ in 0..<Self.maximumChunks {
            let head = source.read(at: offset, count: 8)
            guard head.count == 8, let length = head.number(at: 0, bytes: 4) else { return }
            switch String(decoding: head[4...], as: UTF8.self) {
            case "eXIf" where length <= Self.maximumExif:
                exif = exif ?? PictureSource(source.read(at: offset + 8, count: length))
            case "iTXt" where length <= XMPReader.maximumSize:
                readText(source.read(at: offset + 8, count: length))
            case "tEXt" where length <= 64 << 10:
                readLatinText(source.read(at: offset + 8, count: length))
            case "IEND": return
            default: break
            }
            offset += 12 + length
        }
    }

    private mutating func add(_ keyword: String, _ text: String?) {
        if texts.count < 100, texts[keyword] == nil, let text { texts[keyword] = text }
    }

    private mutating func readLatinText(_ chunk: [UInt8]) {
        guard let end = chunk.firstIndex(of: 0) else { return }
        add(String(decoding: chunk[..<end], as: UTF8.self), MetadataText.text(chunk[(end + 1)...]))
    }

    /// Reads an uncompressed text: keyword, 0, compression flag and method, language, 0, translated
    /// keyword, 0, text.
    private mutating func readText(_ chunk: [UInt8]) {
        guard let end = chunk.firstIndex(of: 0), chunk.count > end + 3, chunk[end + 1] == 0,
            let language = chunk[(end + 3)...].firstIndex(of: 0),
            let translated = chunk[(language + 1)...].firstIndex(of: 0)
        else { return }
        let keyword = String(decoding: chunk[..<end], as: UTF8.self)
        if keyword == "XML:com.adobe.xmp" {
            xmp = xmp ?? Array(chunk[(translated + 1)...])
        } else {
            add(keyword, MetadataText.text(chunk[(translated + 1)...]))
        }
    }

    // MARK: WebP and HEIF

    private mutating func readWebP(_ source: PictureSource) {
        var offset = 12
        for _ in 0..<Self.maximumChunks {
            let head = source.read(at: offset, count: 8)
            guard head.count == 8, let length = head.number(at: 4, bytes: 4, isLittleEndian: true) else { return }
            switch String(decoding: head[..<4], as: UTF8.self) {
            case "EXIF" where length <= Self.maximumExif:
                let bytes = source.read(at: offset + 8, count: length)
                let hasHeader = bytes.starts(with: Self.exifHeader)
                exif = exif ?? PictureSource(hasHeader ? Array(bytes.dropFirst(Self.exifHeader.count)) : bytes)
            case "XMP " where length <= XMPReader.maximumSize:
                xmp = xmp ?? source.read(at: offset + 8, count: length)
            default: break
            }
            offset += 8 + ((length + 1) & ~1)
        }
    }

    private mutating func readHEIF(_ source: PictureSource) {
        // The block begins with the offset of the TIFF structure, relative to the end of that
        // number.
        if let bytes = Self.heifBlock(source, "Exif", limit: Self.maximumExif),
            let offset = bytes.number(at: 0, bytes: 4), offset < bytes.count - 4
        {
            let block = Array(bytes.dropFirst(4 + offset))
            exif = PictureSource(block.starts(with: Self.exifHeader) ? Array(block.dropFirst(6)) : block)
        }
        xmp = Self.heifBlock(source, "XMP", limit: XMPReader.maximumSize)
    }

    private static func heifBlock(_ source: PictureSource, _ type: String, limit: Int) -> [UInt8]? {
        let bytes: [UInt8]?? = source.withCSource { source in
            var length = 0
            guard let bytes = picture_copy_heif_metadata(source, type, limit, &length) else { return nil }
            defer { free(bytes) }
            return [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
        }
        return bytes ?? nil
    }
}
