// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The properties in an EXIF block, a TIFF file or a raw file (EXIF 2.32).
struct ExifReader {
    private(set) var content: PictureContent
    /// The XMP packet and the IPTC records in a TIFF or raw file.
    private(set) var xmp: [UInt8]?
    private(set) var iptc: [UInt8]?

    /// Reads the properties into a content; existing values are kept.
    init?(_ source: PictureSource, into content: PictureContent) {
        guard let file = TIFFFile(source), let main = file.directories.first else { return nil }
        self.content = content
        readMain(main)
        if let exif = main.directory(0x8769) {
            readCamera(exif)
            readDates(exif)
            readText(exif)
        }
        if let gps = main.directory(0x8825) { readLocation(gps) }
        xmp = main.bytes(0x02BC)
        iptc = main.bytes(0x83BB)
    }

    private mutating func readMain(_ main: TIFFDirectory) {
        content.camera.make = main.text(0x010F)
        content.camera.model = main.text(0x0110)
        content.software = main.text(0x0131)
        content.description = main.text(0x010E) ?? Self.wide(main, 0x9C9C)
        content.title = Self.wide(main, 0x9C9B)
        content.copyright = main.text(0x8298)
        let artist = main.text(0x013B) ?? Self.wide(main, 0x9C9D) ?? ""
        content.authors = artist.split(separator: ";").compactMap { MetadataText.entry(String($0)) }
        let keywords = Self.wide(main, 0x9C9E) ?? ""
        content.keywords = keywords.split(separator: ";").prefix(200).compactMap { MetadataText.entry(String($0)) }
        if let rating = main.integer(0x4746), rating <= 5 { content.rating = rating }
        if let orientation = main.integer(0x0112), (1...8).contains(orientation) { content.orientation = orientation }
    }

    /// Returns a UTF-16 text, as Windows writes it.
    private static func wide(_ directory: TIFFDirectory, _ tag: Int) -> String? {
        guard let bytes = directory.bytes(tag, limit: 16 << 10) else { return nil }
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
        return MetadataText.text(String(decoding: units.prefix { $0 != 0 }, as: UTF16.self))
    }

    private mutating func readCamera(_ exif: TIFFDirectory) {
        func positive(_ tag: Int) -> Double? { exif.number(tag).flatMap { $0 > 0 && $0 < 1e9 ? $0 : nil } }
        content.camera.exposureTime = positive(0x829A)
        content.camera.fNumber = positive(0x829D)
        content.camera.aperture = positive(0x9202)
        content.camera.maximumAperture = positive(0x9205)
        content.camera.iso = exif.integer(0x8827).flatMap { $0 > 0 ? $0 : nil }
        content.camera.focalLength = positive(0x920A)
        content.camera.focalLength35mm = exif.integer(0xA405).flatMap { $0 > 0 ? $0 : nil }
        content.camera.exposureProgram = exif.integer(0x8822)
        content.camera.exposureMode = exif.integer(0xA402)
        content.camera.meteringMode = exif.integer(0x9207)
        content.camera.whiteBalance = exif.integer(0xA403)
        content.camera.flash = exif.integer(0x9209)
        content.camera.lens = exif.text(0xA434)
        content.camera.owner = exif.text(0xA430)
        content.camera.exifVersion = exif.text(0x9000)
    }

    private mutating func readDates(_ exif: TIFFDirectory) {
        let original = MetadataText.date(exif.text(0x9003), offset: exif.text(0x9011), fraction: exif.text(0x9291))
        content.captured =
            original ?? MetadataText.date(exif.text(0x9004), offset: exif.text(0x9012), fraction: exif.text(0x9292))
    }

    /// Reads the user comment, which begins with the name of its encoding.
    private mutating func readText(_ exif: TIFFDirectory) {
        guard content.description == nil, let bytes = exif.bytes(0x9286, limit: 16 << 10), bytes.count > 8 else {
            return
        }
        let body = bytes.dropFirst(8)
        if bytes.starts(with: "ASCII".utf8) || bytes.prefix(8).allSatisfy({ $0 == 0 }) {
            content.description = MetadataText.text(body.prefix { $0 != 0 })
        }
    }

    private mutating func readLocation(_ gps: TIFFDirectory) {
        content.location.latitude = Self.degrees(gps, 2, reference: 1, negative: "S", limit: 90)
        content.location.longitude = Self.degrees(gps, 4, reference: 3, negative: "W", limit: 180)
        // One coordinate without the other is not a position, and programs write 0, 0 for an
        // unknown position.
        let (latitude, longitude) = (content.location.latitude ?? 0, content.location.longitude ?? 0)
        if content.location.latitude == nil || content.location.longitude == nil || (latitude, longitude) == (0, 0) {
            content.location.latitude = nil
            content.location.longitude = nil
        }
        if let altitude = gps.number(6), abs(altitude) < 100_000 {
            content.location.altitude = gps.integer(5) == 1 ? -altitude : altitude
        }
        if let direction = gps.number(17), (0...360).contains(direction) { content.location.direction = direction }
    }

    private static func degrees(
        _ gps: TIFFDirectory, _ tag: Int, reference: Int, negative: String, limit: Double
    ) -> Double? {
        let parts = gps.numbers(tag)
        guard let degrees = parts.first, let side = gps.text(reference)?.uppercased() else { return nil }
        let minutes = parts.count > 1 ? parts[1] : 0
        let seconds = parts.count > 2 ? parts[2] : 0
        let value = degrees + minutes / 60 + seconds / 3600
        guard (0...limit).contains(value) else { return nil }
        return side.hasPrefix(negative) ? -value : value
    }
}
