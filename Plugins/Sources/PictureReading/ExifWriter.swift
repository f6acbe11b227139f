// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Writes the EXIF block of a copy: who took the picture, when, with which camera and, unless
/// excluded, where. The block contains nothing else from the original, such as its thumbnail.
enum ExifWriter {
    private enum Value {
        case text(String)
        case short(Int)
        case long(Int)
        case byte([UInt8])
        /// Fractions with the denominator 10,000, except for times.
        case fractions([Double], denominator: Double = 10_000)
    }

    /// Returns a TIFF block; empty if there is no data to write.
    static func block(_ content: PictureContent) -> [UInt8] {
        let camera = content.camera
        var main: [Int: Value] = [:]
        main[0x010E] = content.description.map { .text($0) }
        main[0x010F] = camera.make.map { .text($0) }
        main[0x0110] = camera.model.map { .text($0) }
        if !content.authors.isEmpty { main[0x013B] = .text(content.authors.joined(separator: "; ")) }
        main[0x8298] = content.copyright.map { .text($0) }
        var exif: [Int: Value] = [:]
        exif[0x829A] = camera.exposureTime.map { .fractions([$0], denominator: 1_000_000) }
        exif[0x829D] = camera.fNumber.map { .fractions([$0]) }
        exif[0x8827] = camera.iso.map { .short(min($0, 65535)) }
        if let captured = content.captured {
            exif[0x9003] = .text(date(captured))
            exif[0x9011] = .text("+00:00")
        }
        exif[0x920A] = camera.focalLength.map { .fractions([$0]) }
        exif[0xA434] = camera.lens.map { .text($0) }
        let gps = gps(content.location)
        if main.isEmpty, exif.isEmpty, gps.isEmpty { return [] }
        if !exif.isEmpty { exif[0x9000] = .byte(Array("0232".utf8)) }
        return file(main, exif, gps)
    }

    private static func gps(_ location: PictureLocation) -> [Int: Value] {
        var gps: [Int: Value] = [:]
        if let latitude = location.latitude, let longitude = location.longitude {
            gps[0] = .byte([2, 3, 0, 0])
            gps[1] = .text(latitude < 0 ? "S" : "N")
            gps[2] = .fractions(parts(latitude))
            gps[3] = .text(longitude < 0 ? "W" : "E")
            gps[4] = .fractions(parts(longitude))
        }
        if let altitude = location.altitude {
            gps[5] = .byte([altitude < 0 ? 1 : 0])
            gps[6] = .fractions([abs(altitude)])
        }
        return gps
    }

    /// Returns degrees, minutes and seconds.
    private static func parts(_ degrees: Double) -> [Double] {
        let degrees = abs(degrees)
        let minutes = (degrees - degrees.rounded(.down)) * 60
        return [degrees.rounded(.down), minutes.rounded(.down), (minutes - minutes.rounded(.down)) * 60]
    }

    private static func date(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        func digits(_ number: Int?, _ count: Int) -> String {
            let text = String(number ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day = [digits(parts.year, 4), digits(parts.month, 2), digits(parts.day, 2)].joined(separator: ":")
        return day + " " + [parts.hour, parts.minute, parts.second].map { digits($0, 2) }.joined(separator: ":")
    }

    /// Lays out the main directory, followed by the directories that it refers to.
    private static func file(_ main: [Int: Value], _ exif: [Int: Value], _ gps: [Int: Value]) -> [UInt8] {
        var main = main
        // The positions are known only when the sizes are known.
        if !exif.isEmpty { main[0x8769] = .long(0) }
        if !gps.isEmpty { main[0x8825] = .long(0) }
        let exifStart = 8 + directory(main, at: 8).count
        let gpsStart = exifStart + (exif.isEmpty ? 0 : directory(exif, at: exifStart).count)
        if !exif.isEmpty { main[0x8769] = .long(exifStart) }
        if !gps.isEmpty { main[0x8825] = .long(gpsStart) }
        var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0] + directory(main, at: 8)
        if !exif.isEmpty { bytes += directory(exif, at: exifStart) }
        if !gps.isEmpty { bytes += directory(gps, at: gpsStart) }
        return bytes
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func directory(_ values: [Int: Value], at offset: Int) -> [UInt8] {
        var entries = little(values.count, 2)
        var data: [UInt8] = []
        let dataStart = offset + 2 + 12 * values.count + 4
        for (tag, value) in values.sorted(by: { $0.key < $1.key }) {
            let (type, count, bytes) = encoded(value)
            entries += little(tag, 2) + little(type, 2) + little(count, 4)
            if bytes.count <= 4 {
                entries += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
            } else {
                entries += little(dataStart + data.count, 4)
                data += bytes
                if data.count % 2 == 1 { data.append(0) }
            }
        }
        return entries + [0, 0, 0, 0] + data
    }

    private static func encoded(_ value: Value) -> (type: Int, count: Int, bytes: [UInt8]) {
        switch value {
        case .text(let text):
            let bytes = Array(text.utf8.prefix(4096)) + [0]
            return (2, bytes.count, bytes)
        case .short(let number): return (3, 1, little(number, 2))
        case .long(let number): return (4, 1, little(number, 4))
        case .byte(let bytes): return (bytes.count == 4 && bytes[0] >= 0x30 ? 7 : 1, bytes.count, bytes)
        case .fractions(let numbers, let denominator):
            let bytes = numbers.flatMap { number in
                let numerator = (number * denominator).rounded()
                let isSmall = numerator <= Double(UInt32.max)
                return little(isSmall ? Int(numerator) : Int(min(number, 4e9)), 4)
                    + little(isSmall ? Int(denominator) : 1, 4)
            }
            return (5, numbers.count, bytes)
        }
    }
}
