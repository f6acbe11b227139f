// SPDX-License-Identifier: Apache-2.0
import CCalendar
import ContentLines
import FileReading
import Glibc

/// A time zone from the system's database or from a file. Owns a zone that was read from a file.
package final class CalendarZone {
    private let named: OpaquePointer?
    private let owned: OpaquePointer?

    /// - Parameter name: A name in the system's database, such as `Europe/Berlin`.
    package init?(name: String) {
        let isName = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "+-_/".utf8.contains(byte)
        }
        guard (1...64).contains(name.utf8.count), name.utf8.first != UInt8(ascii: "/"), name.utf8.allSatisfy(isName),
            let zone = calendar_zone_named(name)
        else { return nil }
        (named, owned) = (zone, nil)
    }

    /// - Parameter component: A `VTIMEZONE` with bounded rules.
    init?(component: String) {
        guard let zone = calendar_zone_read(component) else { return nil }
        (named, owned) = (nil, zone)
    }

    deinit { calendar_zone_free(owned) }

    /// Returns the seconds since 1970 UTC for a local time. If the time occurs twice, at the end of
    /// daylight saving time, the first occurrence is used. If it does not occur, the offset before
    /// the gap is used (RFC 5545, 3.3.5).
    package func instant(_ time: CalendarTime) -> Int {
        let local = time.seconds
        let before = offset(at: local - 86_400)
        let after = offset(at: local + 86_400)
        if before == after, offset(at: local - before) == before { return local - before }
        let candidates = [local - before, local - after].filter { offset(at: $0) == local - $0 }
        return candidates.min() ?? local - before
    }

    /// Returns the local time for a number of seconds since 1970 UTC.
    package func local(_ instant: Int, isDate: Bool = false) -> CalendarTime {
        CalendarTime(seconds: instant + offset(at: instant), isDate: isDate)
    }

    private func offset(at instant: Int) -> Int {
        guard let zone = named ?? owned else { return 0 }
        let offset = Int(calendar_zone_offset(zone, CalendarTime(seconds: instant).c))
        // A zone in a file may have any offset.
        return abs(offset) <= 86_400 ? offset : 0
    }
}

/// The time zones in a file, by `TZID`. Not thread-safe.
package final class ZoneTable {
    /// The maximum number of zones that are read from a file.
    static let maximumZones = 300

    /// The zone for times without a zone.
    package let floating: CalendarZone?
    private let components: [String: ArraySlice<UInt8>]
    private var known: [String: CalendarZone?] = [:]

    /// - Parameters:
    ///   - components: The `VTIMEZONE` components by `TZID`.
    ///   - local: The name of the zone for times without a zone.
    package init(_ components: [String: ArraySlice<UInt8>], local: String) {
        self.components = components
        floating = CalendarZone(name: local) ?? CalendarZone(name: "UTC")
    }

    /// Returns the zone for a `TZID`; nil if it is unknown. A name in the system's database takes
    /// precedence over the file's own definition, which may be old. Evolution and other programs
    /// put a path before the name.
    package func zone(_ identifier: String) -> CalendarZone? {
        if let zone = known[identifier] { return zone }
        guard known.count < Self.maximumZones else { return nil }
        var zone: CalendarZone?
        var name = identifier.trimmed.utf8[...]
        for _ in 1...6 {
            zone = CalendarZone(name: String(Substring(name)))
            guard zone == nil, let slash = name.firstIndex(of: UInt8(ascii: "/")) else { break }
            name = name[name.index(after: slash)...]
        }
        if zone == nil, let component = components[identifier].flatMap(ZoneDefinition.text) {
            zone = CalendarZone(component: component)
        }
        known[identifier] = .some(zone)
        return zone
    }
}

/// The definition of a time zone in a file.
enum ZoneDefinition {
    private static let maximumSize = 256 << 10
    private static let maximumParts = 400
    private static let maximumDates = 500
    /// The number of years that all rules of a zone span, up to the last year that libical expands.
    /// Real zones with a rule for each half-year since 1601 span 900 years.
    private static let (maximumYears, lastYear) = (4000, 2036)

    /// Returns a `VTIMEZONE` with only the relevant lines; nil if its rules may take a long time to
    /// expand.
    static func text(_ component: ArraySlice<UInt8>) -> String? {
        guard component.count <= maximumSize else { return nil }
        var lines: [String] = []
        var (parts, dates, years) = (0, 0, 0)
        // In the current sub-component.
        var (start, hasRule): (Int?, Bool) = (nil, false)
        for bytes in ContentLineReader(component) {
            guard let line = ContentLine(bytes) else { continue }
            let value = line.text.trimmed
            guard !value.utf8.contains(where: { $0 < 0x20 }) else { continue }
            switch line.name {
            case "BEGIN", "END":
                guard ["VTIMEZONE", "STANDARD", "DAYLIGHT"].contains(value.uppercased()) else { return nil }
                parts += 1
                guard parts <= maximumParts else { return nil }
                if hasRule {
                    guard let start else { return nil }
                    years += max(0, lastYear - start)
                    guard years <= maximumYears else { return nil }
                }
                (start, hasRule) = (nil, false)
                lines.append("\(line.name):\(value.uppercased())")
            case "TZID": lines.append("TZID:zone")
            case "DTSTART":
                start = Int(value.prefix(4))
                lines.append("DTSTART:\(value)")
            case "TZOFFSETFROM", "TZOFFSETTO": lines.append("\(line.name):\(value)")
            case "RDATE":
                dates += 1
                guard dates <= maximumDates, value.utf8.count <= 2000 else { return nil }
                lines.append("RDATE:\(value)")
            case "RRULE":
                guard !hasRule, isBounded(value) else { return nil }
                hasRule = true
                lines.append("RRULE:\(value)")
            default: continue
            }
        }
        guard lines.first == "BEGIN:VTIMEZONE" else { return nil }
        return lines.joined(separator: "\r\n") + "\r\n"
    }

    /// `true` for rules as time zones use them: one day of a month in each year.
    private static func isBounded(_ rule: String) -> Bool {
        guard rule.utf8.count <= 200 else { return false }
        var isYearly = false
        for part in rule.uppercased().split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { return false }
            switch pair[0] {
            case "FREQ": isYearly = pair[1] == "YEARLY"
            case "INTERVAL": guard pair[1] == "1" else { return false }
            case "UNTIL", "WKST": continue
            case "BYMONTH": guard let month = Int(pair[1]), (1...12).contains(month) else { return false }
            case "BYDAY": guard pair[1].utf8.count <= 4 else { return false }
            case "BYMONTHDAY":
                let days = pair[1].split(separator: ",").map { Int($0) ?? 0 }
                guard days.count <= 7, days.allSatisfy({ (1...28).contains(abs($0)) }) else { return false }
            default: return false
            }
        }
        return isYearly
    }
}
