// SPDX-License-Identifier: Apache-2.0
import ContentLines
import FileReading
import Foundation

/// An iCalendar file that is open but not read yet.
package struct CalendarFile: ServedFile {
    package enum Kind: Sendable { case calendar }

    /// The maximum file size in bytes; only the beginning of a larger file is read.
    package static let maximumSize = 96 << 20

    package var path: String
    package var directories: [String]
    package var file: OpenedFile

    package static func kind(fileName: String) -> Kind? {
        let name = fileName.lowercased()
        return [".ics", ".ical", ".icalendar"].contains(where: name.hasSuffix) ? .calendar : nil
    }

    package init(_ file: OpenedFile, kind: Kind, path: String, directories: [String]) {
        self.path = path
        self.directories = directories
        self.file = file
    }

    /// Opens a file at any path; nil if its name is not the name of a calendar file.
    package init?(contentsOf path: String) throws(SkipReason) {
        guard Self.kind(fileName: path) != nil else { return nil }
        let file = try OpenedFile(in: nil, name: path, followingLinks: true, opener: .system)
        self.init(file, kind: .calendar, path: path, directories: [])
    }
}

/// The entries of a file, found but not read yet. Not thread-safe.
package struct CalendarList {
    package enum Limits {
        /// The maximum component size in bytes; a larger component is left out.
        package static let size = 12 << 20
        /// The maximum number of components in a file, and in one entry.
        static let components = 300_000
        static let parts = 2_000
    }

    package struct Entry {
        /// The key, which is unique in the file.
        package var key: String
        package var kind: CalendarEntry.Kind
        /// The components, in file order.
        package var parts: [Range<Int>]
        package var isComplete = true
        package var isTooLarge = false
        /// `true` if one of the components describes the whole series.
        fileprivate var hasMain = false

        fileprivate init(key: String, kind: CalendarEntry.Kind) { (self.key, self.kind, parts) = (key, kind, []) }
    }

    package private(set) var entries: [Entry] = []
    /// The name that the file gives its calendar.
    package private(set) var name: String?
    /// The reason why entries in the file are missing; nil if none are missing.
    package private(set) var leftOut: String?

    private let bytes: [UInt8]
    private let zones: ZoneTable
    private var zoneComponents: [String: ArraySlice<UInt8>] = [:]

    /// Reads a file.
    ///
    /// - Parameter zone: The name of the zone for times without a zone.
    package init(_ file: CalendarFile, zone: String) throws(SkipReason) {
        let bytes = try file.file.readAll(limit: CalendarFile.maximumSize)
        self.init(ContentEncoding.utf8(bytes), zone: zone)
        if file.file.size > Int64(CalendarFile.maximumSize) {
            leftOut = "larger than \(CalendarFile.maximumSize) bytes; the entries at its end were left out"
        }
    }

    /// Finds the entries in the bytes of a file.
    package init(_ bytes: [UInt8], zone: String) {
        self.bytes = bytes
        var zones: [String: ArraySlice<UInt8>] = [:]
        var found: [(component: Component, kind: CalendarEntry.Kind)] = []
        for component in ComponentScanner(bytes[...], isWanted: { Self.names.contains($0) }) {
            if component.name == "VTIMEZONE" {
                if zones.count < ZoneTable.maximumZones, let name = Self.zoneName(bytes[component.range]) {
                    zones[name] = bytes[component.range]
                }
                continue
            }
            guard found.count < Limits.components else {
                leftOut = "more than \(Limits.components) entries; the rest was left out"
                break
            }
            let kind: CalendarEntry.Kind =
                component.name == "VEVENT" ? .event : component.name == "VTODO" ? .task : .journal
            found.append((component, kind))
        }
        self.zones = ZoneTable(zones, local: zone)
        zoneComponents = zones
        name = Self.calendarName(bytes[...])
        group(found)
        guard entries.isEmpty, leftOut == nil, !bytes.isEmpty else { return }
        if !Self.isCalendar(bytes[...]) {
            leftOut = "it has no iCalendar"
        } else if !ContentLineReader.isWhole(bytes[...], accepts: Self.isOfCalendar) {
            // Unlike a calendar that is empty.
            leftOut = "it has no entry that can be read"
        }
    }

    private static let names: Set<String> = ["VEVENT", "VTODO", "VJOURNAL", "VTIMEZONE"]

    /// Combines the components with the same UID into one entry.
    private mutating func group(_ found: [(component: Component, kind: CalendarEntry.Kind)]) {
        var places: [String: Int] = [:]
        var keys = UniqueKeys()
        for (component, kind) in found {
            let content = bytes[component.range]
            let isTooLarge = content.count > Limits.size
            let (identifier, isChange) =
                isTooLarge ? (identifier: nil, isChange: false) : Self.identify(content)
            if let identifier, let place = places[identifier], entries[place].kind == kind,
                isChange || !entries[place].hasMain
            {
                if !isChange { entries[place].hasMain = true }
                if entries[place].parts.count < Limits.parts { entries[place].parts.append(component.range) }
                if !component.isComplete { entries[place].isComplete = false }
                continue
            }
            let key = ContentKey.key(identifier: identifier, content: content.prefix(Limits.size))
            var entry = Entry(key: keys.unique(key), kind: kind)
            entry.parts = [component.range]
            entry.isComplete = component.isComplete
            (entry.isTooLarge, entry.hasMain) = (isTooLarge, !isChange)
            if let identifier, places[identifier] == nil { places[identifier] = entries.count }
            entries.append(entry)
        }
    }

    private static func identify(_ component: ArraySlice<UInt8>) -> (identifier: String?, isChange: Bool) {
        var identifier: String?
        var isChange = false
        _ = ContentLineReader.readLines(of: component, limit: CalendarComponent.Limits.lines) { line in
            if identifier == nil, line.name == "UID" { identifier = line.text.trimmed }
            if line.name == "RECURRENCE-ID" { isChange = true }
        }
        return (identifier.flatMap { $0.isEmpty ? nil : $0 }, isChange)
    }

    private static func zoneName(_ component: ArraySlice<UInt8>) -> String? {
        var name: String?
        _ = ContentLineReader.readLines(of: component, limit: 100) { line in
            if name == nil, line.name == "TZID" { name = line.text.trimmed }
        }
        return name
    }

    private static func calendarName(_ bytes: ArraySlice<UInt8>) -> String? {
        var name: String?
        _ = ContentLineReader.readLines(of: bytes.prefix(64 << 10), limit: 100) { line in
            if name == nil, line.name == "X-WR-CALNAME" || line.name == "NAME" { name = line.text.oneLine.trimmed }
        }
        return name.flatMap { $0.isEmpty || $0.utf8.count > 500 ? nil : $0 }
    }

    private static func isCalendar(_ bytes: ArraySlice<UInt8>) -> Bool {
        ComponentScanner(bytes.prefix(1 << 20), isWanted: { $0 == "VCALENDAR" }).contains { _ in true }
    }

    /// Returns `true` for the properties of a calendar itself (RFC 5545 and 7986).
    private static func isOfCalendar(_ line: ContentLine) -> Bool {
        properties.contains(line.name) || line.name.hasPrefix("X-")
    }

    private static let properties: Set<String> = [
        "CALSCALE", "CATEGORIES", "COLOR", "DESCRIPTION", "IMAGE", "LAST-MODIFIED", "METHOD", "NAME", "PRODID",
        "REFRESH-INTERVAL", "SOURCE", "UID", "URL", "VERSION",
    ]

    // MARK: Entries

    /// Returns a number that changes when the entry's content changes.
    package func digest(_ entry: Entry) -> UInt64 {
        FNV1a.hash(entry.parts.lazy.flatMap { bytes[$0] })
    }

    /// Reads an entry, which must not be too large.
    package func read(_ entry: Entry, _ clock: CalendarClock) -> CalendarEntry {
        var read = CalendarEntry(entry.kind, parts: entry.parts.map { bytes[$0] }, zones, clock)
        if !entry.isComplete { read.problems.append(.noEnd) }
        return read
    }

    /// Returns the entry as a separate calendar, with the time zones that it uses.
    package func exported(_ entry: Entry) -> [UInt8] {
        var result = Array("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Searchlight//Calendars//EN\r\n".utf8)
        var used: Set<String> = []
        for part in entry.parts {
            _ = ContentLineReader.readLines(of: bytes[part], limit: CalendarComponent.Limits.lines) { line in
                if let name = line.parameter("TZID") { used.insert(name) }
            }
        }
        for name in used.sorted() { if let component = zoneComponents[name] { Self.append(component, to: &result) } }
        for part in entry.parts { Self.append(bytes[part], to: &result) }
        if !entry.isComplete {
            let name = entry.kind == .event ? "VEVENT" : entry.kind == .task ? "VTODO" : "VJOURNAL"
            result += Array("END:\(name)\r\n".utf8)
        }
        return result + Array("END:VCALENDAR\r\n".utf8)
    }

    private static func append(_ component: ArraySlice<UInt8>, to result: inout [UInt8]) {
        result += component
        if component.last != 0x0A { result += Array("\r\n".utf8) }
    }
}
