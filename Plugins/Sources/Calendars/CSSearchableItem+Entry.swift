// SPDX-License-Identifier: Apache-2.0
import CalendarEntries
import CoreSpotlight
import FileDonations
import FileReading

extension CalendarFile {
    private static let week = 7 * 86_400

    /// Returns the date on which the item of a series expires, 37 to 44 days from now. The host
    /// requests the item a week earlier, so that its next dates stay current. The result is the
    /// same for all days of a week, so that a reindex does not change the item.
    private static func expiry(_ now: Int) -> Date {
        Date(timeIntervalSince1970: Double(now / week * week + 44 * 86_400))
    }

    /// Returns the item for an entry. Only items of series with coming dates expire.
    func item(_ entry: CalendarEntry, _ found: CalendarList.Entry, in list: CalendarList, now: Int) -> FileItem {
        let attributes = CSSearchableItemAttributeSet()
        let identifier = RecordIdentifier(path: path, key: found.key).text
        attributes.identifier = identifier
        attributes.contentType = Self.itemType(entry.kind)
        attributes.title = entry.displayTitle
        attributes.displayName = entry.displayTitle
        let (text, missing) = entry.indexedText
        attributes.textContent = text
        attributes.setMissingText(Int64(missing))
        attributes.setContent(entry)
        attributes.setDates(entry)
        attributes.setPeople(entry)
        let calendar = calendarName(list)
        if !calendar.isEmpty { attributes.containerTitle = calendar }
        attributes.containerIdentifier = path
        if let url = programURL(entry) ?? entry.url.flatMap(Self.webURL) { attributes.url = url }
        // Evolution opens its own calendars through the URL.
        if evolutionSource == nil { attributes.contentURL = URL(filePath: path, directoryHint: .notDirectory) }
        attributes.providerDataTypeIdentifiers = Self.dataTypes(entry)
        if list.entries.count == 1 { attributes.providerInPlaceFileTypeIdentifiers = [Self.contentType] }
        let item = CSSearchableItem(
            uniqueIdentifier: identifier, domainIdentifier: RecordIdentifier.domain(of: path), attributeSet: attributes)
        item.expirationDate = entry.isContinued ? Self.expiry(now) : .distantFuture
        var made = FileItem(item, size: text.utf8.count)
        if !entry.problems.isEmpty {
            let problems = entry.problems.map(\.rawValue).joined(separator: ", ")
            made.remarks = ["\(identifier.onOneLine): \(problems)"]
            made.leftOut = "read in part: " + entry.problems[0].rawValue
        }
        return made
    }

    static let contentType = "com.apple.ical.ics"

    /// Returns the content type of the item for an entry. A calendar file counts as an event.
    private static func itemType(_ kind: CalendarEntry.Kind) -> String {
        switch kind {
        case .event: contentType
        case .task: UTType.toDoItem.identifier
        case .journal: UTType.plainText.identifier
        }
    }

    /// Returns the types in which an entry is provided, the most faithful first.
    static func dataTypes(_ entry: CalendarEntry) -> [String] {
        let types = [contentType, UTType.utf8PlainText.identifier]
        return entry.url.flatMap(webURL) == nil ? types : types + [UTType.url.identifier]
    }

    static func webURL(_ text: String) -> URL? {
        guard text.utf8.count <= 2_000, let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme)
        else { return nil }
        return url
    }

    /// Returns the name of the calendar: the name in the file, or else the folder's name.
    func calendarName(_ list: CalendarList) -> String {
        if let name = list.name { return name }
        let names = path.split(separator: "/").map(String.init)
        guard names.count > 1 else { return "" }
        let folder = names[names.count - 2]
        if evolutionSource != nil { return folder == "system" ? "Personal" : folder }
        guard list.entries.count != 1, let name = names.last, let dot = name.lastIndex(of: ".") else { return folder }
        return String(name[..<dot])
    }

    /// The kind and the source of an Evolution calendar, derived from its path.
    private var evolutionSource: (scheme: String, source: String)? {
        let names = path.split(separator: "/").map(String.init)
        guard names.count >= 4, names[names.count - 4] == "evolution" else { return nil }
        let programs = [
            "calendar": ("calendar", "system-calendar"), "tasks": ("task", "system-task-list"),
            "memos": ("memo", "system-memo-list"),
        ]
        guard let (scheme, system) = programs[names[names.count - 3]] else { return nil }
        let source = names[names.count - 2]
        return (scheme, source == "system" ? system : source)
    }

    /// Returns the URL with which Evolution opens an entry in its own calendars.
    private func programURL(_ entry: CalendarEntry) -> URL? {
        guard let (scheme, source) = evolutionSource, let identifier = entry.identifier,
            let source = source.addingPercentEncoding(withAllowedCharacters: .alphanumerics),
            let identifier = identifier.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        else { return nil }
        return URL(string: "\(scheme):///?source-uid=\(source)&comp-uid=\(identifier)")
    }
}

extension CSSearchableItemAttributeSet {
    fileprivate func setContent(_ entry: CalendarEntry) {
        let summary = entry.description.isEmpty ? entry.location : entry.description
        if !summary.isEmpty { contentDescription = summary.summary(maximumCharacters: 200) }
        if !entry.location.isEmpty { namedLocation = entry.location }
        if let position = entry.position {
            (latitude, longitude) = (NSNumber(value: position.latitude), NSNumber(value: position.longitude))
            supportsNavigation = 1
        }
        if !entry.categories.isEmpty { keywords = entry.categories }
        if let status = entry.status { setCustom("com_searchlight_calendars_status", status.lowercased() as NSString) }
        if let repeats = entry.repeats { setCustom("com_searchlight_calendars_repeats", repeats as NSString) }
        if let priority = entry.priority {
            setCustom("com_searchlight_calendars_priority", NSNumber(value: priority))
        }
    }

    fileprivate func setDates(_ entry: CalendarEntry) {
        func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }
        if let occurrence = entry.occurrence {
            startDate = date(occurrence.start)
            if entry.kind == .task { dueDate = date(occurrence.end) } else { endDate = date(occurrence.end) }
            allDay = NSNumber(value: entry.isAllDay)
        }
        if !entry.dates.isEmpty { importantDates = entry.dates.map(date) }
        if let completed = entry.completed { completionDate = completed }
        if let created = entry.created { contentCreationDate = created }
        if let modified = entry.modified { contentModificationDate = modified }
    }

    fileprivate func setPeople(_ entry: CalendarEntry) {
        func people(_ list: [CalendarPerson]) -> [CSPerson] {
            list.map { person in
                CSPerson(
                    displayName: person.name, handles: person.address.map { [$0] } ?? [],
                    handleIdentifier: "emailAddresses")
            }
        }
        if let organiser = entry.organiser {
            authors = people([organiser])
            if let name = organiser.name { authorNames = [name] }
            if let address = organiser.address { authorEmailAddresses = [address] }
        }
        guard !entry.attendees.isEmpty else { return }
        primaryRecipients = people(entry.attendees)
        participants = entry.attendees.compactMap { $0.name ?? $0.address }
        let addresses = entry.attendees.compactMap(\.address)
        if !addresses.isEmpty { recipientEmailAddresses = addresses }
    }

    /// Sets an attribute that a query can name.
    private func setCustom(_ name: String, _ value: any NSSecureCoding) {
        guard let key = CSCustomAttributeKey(keyName: name) else { return }
        setValue(value, forCustomKey: key)
    }
}
