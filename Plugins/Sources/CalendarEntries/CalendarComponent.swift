// SPDX-License-Identifier: Apache-2.0
import ContentLines
import FileReading

/// An organiser or an attendee of an event.
package struct CalendarPerson: Sendable, Equatable {
    package var name: String?
    package var address: String?
    /// The participation, such as `accepted`, in lower case.
    package var status: String?
}

/// A time with its zone, as a property states it.
struct ZonedTime {
    var time: CalendarTime
    /// The zone; nil for UTC and for dates.
    var zone: CalendarZone?
    var isUTC: Bool

    /// Returns the seconds since 1970 UTC. A date begins at midnight in the floating zone.
    func instant(floating: CalendarZone?) -> Int {
        isUTC ? time.seconds : (zone ?? floating)?.instant(time) ?? time.seconds
    }
}

/// The properties of an event, a task or a journal entry.
struct CalendarComponent {
    enum Limits {
        static let lines = 5_000
        static let values = 200
        static let value = 64 << 10
        /// The maximum number of `RDATE` dates and of `EXDATE` dates.
        static let dates = 2_000
        static let rules = 4
    }

    var identifier: String?
    var summary = ""
    var description = ""
    var location = ""
    var url: String?
    var conference: String?
    var categories: [String] = []
    var organiser: CalendarPerson?
    var attendees: [CalendarPerson] = []
    var attachments: [String] = []
    var status: String?
    var isPrivate = false
    var priority: Int?
    var percent: Int?
    var position: (latitude: Double, longitude: Double)?
    var start: ZonedTime?
    var end: ZonedTime?
    var due: ZonedTime?
    var completed: ZonedTime?
    var created: ZonedTime?
    var modified: ZonedTime?
    var duration: CalendarDuration?
    var recurrenceID: ZonedTime?
    var rules: [String] = []
    var dates: [ZonedTime] = []
    var exceptions: [ZonedTime] = []
    var problems: [CalendarEntry.Problem] = []

    /// Reads a component. Accepts any bytes: lines that cannot be read are left out.
    init(_ bytes: ArraySlice<UInt8>, _ zones: ZoneTable) {
        let isRead = ContentLineReader.readLines(of: bytes, limit: Limits.lines) { read($0, zones) }
        if !isRead { report(.tooManyLines) }
    }

    private mutating func read(_ line: ContentLine, _ zones: ZoneTable) {
        switch line.name {
        case "UID": if identifier == nil { identifier = text(line) }
        case "SUMMARY": if summary.isEmpty { summary = text(line) }
        case "DESCRIPTION": if description.isEmpty { description = text(line) }
        case "LOCATION": if location.isEmpty { location = text(line) }
        case "URL": if url == nil { url = text(line) }
        case "X-GOOGLE-CONFERENCE", "CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL":
            if conference == nil { conference = text(line) }
        case "CATEGORIES": add(line.texts().map(\.trimmed).filter { !$0.isEmpty }, to: \.categories)
        case "ORGANIZER": if organiser == nil { organiser = person(line) }
        case "ATTENDEE": if let person = person(line) { add([person], to: \.attendees) }
        case "ATTACH": if let name = attachment(line) { add([name], to: \.attachments) }
        case "STATUS": status = text(line).uppercased()
        case "CLASS": isPrivate = text(line).uppercased() != "PUBLIC"
        case "PRIORITY": priority = Int(text(line)).flatMap { (1...9).contains($0) ? $0 : nil }
        case "PERCENT-COMPLETE": percent = Int(text(line)).flatMap { (0...100).contains($0) ? $0 : nil }
        case "GEO": readPosition(text(line))
        case "DTSTART": if start == nil { start = time(line, zones) }
        case "DTEND": if end == nil { end = time(line, zones) }
        case "DUE": if due == nil { due = time(line, zones) }
        case "COMPLETED": if completed == nil { completed = time(line, zones) }
        case "CREATED": if created == nil { created = time(line, zones) }
        case "LAST-MODIFIED", "DTSTAMP":
            if modified == nil || line.name == "LAST-MODIFIED" { modified = time(line, zones) ?? modified }
        case "DURATION": if duration == nil { duration = CalendarDuration(text(line)) }
        case "RECURRENCE-ID": if recurrenceID == nil { recurrenceID = time(line, zones) }
        case "RRULE":
            if rules.count < Limits.rules { rules.append(text(line)) } else { report(.tooManyDates) }
        case "RDATE": addTimes(line, to: \.dates, zones)
        case "EXDATE": addTimes(line, to: \.exceptions, zones)
        default: break
        }
    }

    private mutating func text(_ line: ContentLine) -> String {
        let text = line.text.trimmed
        guard text.utf8.count > Limits.value else { return text }
        report(.longValue)
        return text.prefix(maximumUTF8Bytes: Limits.value)
    }

    mutating func report(_ problem: CalendarEntry.Problem) {
        if !problems.contains(problem) { problems.append(problem) }
    }

    private mutating func add<Value>(_ values: [Value], to list: WritableKeyPath<CalendarComponent, [Value]>) {
        for value in values {
            guard self[keyPath: list].count < Limits.values else { return report(.tooManyValues) }
            self[keyPath: list].append(value)
        }
    }

    private mutating func person(_ line: ContentLine) -> CalendarPerson? {
        var address: String? = text(line)
        if let text = address, text.lowercased().hasPrefix("mailto:") {
            address = String(text.dropFirst("mailto:".count))
        } else if address?.contains("@") != true {
            address = line.parameter("EMAIL")
        }
        if address?.isEmpty == true { address = nil }
        let name = line.parameter("CN").map { $0.oneLine.trimmed }.flatMap { $0.isEmpty || $0 == address ? nil : $0 }
        if address == nil, name == nil { return nil }
        return CalendarPerson(name: name, address: address, status: line.parameter("PARTSTAT")?.lowercased())
    }

    /// Returns the name or the URL of an attachment that is not in the file.
    private mutating func attachment(_ line: ContentLine) -> String? {
        if let name = line.parameter("FILENAME") ?? line.parameter("X-FILENAME") { return name.oneLine }
        guard !line.isBase64, line.rawValue.count <= 2_000 else { return nil }
        return text(line)
    }

    private mutating func readPosition(_ text: String) {
        let parts = text.split { $0 == ";" || $0 == "," }.map { Double(String($0).trimmed) }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1], abs(latitude) <= 90,
            abs(longitude) <= 180
        else { return }
        position = (latitude, longitude)
    }

    // MARK: Times

    private mutating func addTimes(
        _ line: ContentLine, to list: WritableKeyPath<CalendarComponent, [ZonedTime]>, _ zones: ZoneTable
    ) {
        for value in ContentText.split(line.value, at: UInt8(ascii: ","), limit: Limits.dates + 1) {
            guard self[keyPath: list].count < Limits.dates else { return report(.tooManyDates) }
            // A period has its end or duration after a slash.
            let begin = value.prefix { $0 != UInt8(ascii: "/") }
            let read = time(String(decoding: begin, as: UTF8.self).trimmed, line, zones)
            if let read { self[keyPath: list].append(read) }
        }
    }

    private mutating func time(_ line: ContentLine, _ zones: ZoneTable) -> ZonedTime? {
        let read = time(text(line), line, zones)
        if read == nil { report(.invalidDate) }
        return read
    }

    private mutating func time(_ text: String, _ line: ContentLine, _ zones: ZoneTable) -> ZonedTime? {
        guard let time = CalendarTime(text[...].utf8) else { return nil }
        if time.isDate || text.hasSuffix("Z") { return ZonedTime(time: time, zone: nil, isUTC: !time.isDate) }
        var zone: CalendarZone?
        if let name = line.parameter("TZID") {
            zone = zones.zone(name)
            if zone == nil { report(.unknownZone) }
        }
        return ZonedTime(time: time, zone: zone ?? zones.floating, isUTC: false)
    }
}
