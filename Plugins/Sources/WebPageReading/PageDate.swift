// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// Dates in the formats that pages use.
enum PageDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Reads a date from schema.org or Open Graph (ISO 8601). A date without an offset is in UTC.
    static func web(_ text: String) -> Date? {
        ISO8601.date(from: text, timeZone: TimeZone(secondsFromGMT: 0) ?? .current)
    }

    /// Reads a mail header date: `Fri, 27 Nov 2026 10:00:00 +0100`.
    static func mail(_ text: String) -> Date? {
        let words = words(text)
        guard words.count >= 5, let day = Int(words[1]) ?? Int(words[0]) else { return nil }
        let offset = Int(words[1]) == nil ? 0 : 1
        guard words.count >= offset + 4 else { return nil }
        let zone = words.count > offset + 4 ? words[offset + 4] : "+0000"
        return date(day: day, month: words[offset + 1], year: words[offset + 2], time: words[offset + 3], zone: zone)
    }

    /// Reads a date as JavaScript prints it:
    /// `Fri Nov 27 2026 10:00:00 GMT+0100 (Central European Standard Time)`.
    static func script(_ text: String) -> Date? {
        let words = words(text)
        guard words.count >= 6, let day = Int(words[2]) else { return nil }
        let zone = words[5].hasPrefix("GMT") ? String(words[5].dropFirst(3)) : "+0000"
        return date(day: day, month: words[1], year: words[3], time: words[4], zone: zone.isEmpty ? "+0000" : zone)
    }

    private static func words(_ text: String) -> [String] {
        text.prefix(maximumUTF8Bytes: 200).split { $0 == " " || $0 == "," }.prefix(8).map { String($0) }
    }

    private static func date(day: Int, month: String, year: String, time: String, zone: String) -> Date? {
        guard let index = months.firstIndex(of: month.lowercased()) else { return nil }
        let offset = zone.first == "+" || zone.first == "-" ? zone : "Z"
        return web("\(year)-\(index + 1)-\(day)T\(time)\(offset)")
    }

    /// Reads an ISO 8601 duration in seconds: `PT1H30M`, `P1DT2H`.
    static func duration(_ text: String) -> Double? {
        guard text.utf8.count <= 40, text.hasPrefix("P") else { return nil }
        var (seconds, number, isTime) = (0.0, "", false)
        for character in text.dropFirst() {
            switch character {
            case "T": isTime = true
            case "0"..."9", ".": number.append(character)
            default:
                let units: [Character: Double] = isTime ? ["H": 3600, "M": 60, "S": 1] : ["W": 604_800, "D": 86_400]
                guard let unit = units[character], let value = Double(number) else { return nil }
                seconds += unit * value
                number = ""
            }
        }
        return seconds > 0 && number.isEmpty && seconds < 1e8 ? seconds : nil
    }
}
