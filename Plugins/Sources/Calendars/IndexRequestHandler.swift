// SPDX-License-Identifier: Apache-2.0
import CalendarEntries
import CoreSpotlight
import FileDonations
import FileReading

/// The index extension for iCalendar files: indexes, serves and renders events, tasks and journal
/// entries.
class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    /// The clocks that tests replace.
    struct Clock {
        /// The current date, which determines the next dates of a series.
        var date: () -> Date = { Date() }
        /// The clock that limits the time for expanding a file's recurrences.
        var now: () -> ContinuousClock.Instant = { ContinuousClock.now }
        /// The zone for times without a zone.
        var zone = TimeZone.current
    }

    /// The maximum time for expanding the recurrences of all entries in a file. A typical series
    /// takes less than a millisecond.
    static let timeForRepetitions: Duration = .seconds(20)

    private let requests: RecordRequests<CalendarFile>
    private let clock: Clock

    /// Reads the user's settings and reports problems to standard error.
    override convenience init() {
        self.init(RecordRequests.Environment(settings: { () throws(Skip) in try .calendars() }), Clock())
    }

    init(_ environment: RecordRequests<CalendarFile>.Environment, _ clock: Clock) {
        self.clock = clock
        requests = RecordRequests(environment, noun: "entry") { (file) throws(SkipReason) in
            try Self.records(of: file, clock)
        }
        super.init()
    }

    private static func records(of file: CalendarFile, _ clock: Clock) throws(SkipReason) -> FileRecords {
        let list = try CalendarList(file, zone: clock.zone.identifier)
        let now = Int(clock.date().timeIntervalSince1970)
        var used: Duration = .zero
        let records = list.entries.map { entry in
            FileRecord(key: entry.key, digest: list.digest(entry)) { () throws(RecordFault) in
                guard !entry.isTooLarge else {
                    throw RecordFault("an entry of more than \(CalendarList.Limits.size) bytes")
                }
                let start = clock.now()
                let time = CalendarClock(now: now, zone: clock.zone.identifier) { used >= timeForRepetitions }
                let read = list.read(entry, time)
                used += clock.now() - start
                return file.item(read, entry, in: list, now: now)
            }
        }
        return FileRecords(records, leftOut: list.leftOut)
    }

    // MARK: Indexing

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) { requests.reindex(searchableIndex, identifiers, acknowledgementHandler) }

    override func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) { requests.throttle(true) }

    override func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) { requests.throttle(false) }

    // MARK: Promises

    /// An item's entry, with its file.
    private struct Located {
        var file: CalendarFile
        var list: CalendarList
        var found: CalendarList.Entry
        var entry: CalendarEntry
        var calendar: String { file.calendarName(list) }
    }

    /// Finds the entry of an item.
    ///
    /// - Throws: `CocoaError.fileNoSuchFile` if it no longer exists, so that the host removes the
    ///   item.
    private func locate(_ identifier: String) throws -> Located {
        let (file, key) = try requests.file(of: identifier)
        let list = try CalendarList(file, zone: clock.zone.identifier)
        guard let found = list.entries.first(where: { $0.key == key }), !found.isTooLarge else {
            throw CocoaError(.fileNoSuchFile)
        }
        let now = Int(clock.date().timeIntervalSince1970)
        let entry = list.read(found, CalendarClock(now: now, zone: clock.zone.identifier))
        return Located(file: file, list: list, found: found, entry: entry)
    }

    private var dates: CalendarEntry.DateText { CalendarEntry.DateText(zone: clock.zone) }

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        let located = try locate(itemIdentifier)
        switch typeIdentifier {
        case CalendarFile.contentType: return Data(located.list.exported(located.found))
        case UTType.utf8PlainText.identifier:
            return Data(located.entry.plainText(dates, calendar: located.calendar).utf8)
        case UTType.url.identifier:
            if let url = located.entry.url.flatMap(CalendarFile.webURL) { return Data(url.absoluteString.utf8) }
        default: break
        }
        throw UnsupportedType(typeIdentifier, of: "This entry", supported: CalendarFile.dataTypes(located.entry))
    }

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        let located = try locate(itemIdentifier)
        guard located.list.entries.count == 1, typeIdentifier == CalendarFile.contentType else {
            throw UnsupportedType(typeIdentifier, of: "The file of an entry", supported: [CalendarFile.contentType])
        }
        return URL(filePath: located.file.path, directoryHint: .notDirectory)
    }

    // MARK: Previews

    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        let located = try locate(identifier)
        let page = located.entry.html(dates, calendar: located.calendar)
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { _ in Data(page.utf8) }
        reply.title = located.entry.displayTitle
        return reply
    }
}

extension IndexRequestHandler: CSPagedReindexHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexPage page: CSReindexPage,
        acknowledgementHandler: @escaping @Sendable (_ nextCursor: Data?) -> Void
    ) { requests.reindex(searchableIndex, page, acknowledgementHandler) }
}

extension IndexRequestHandler: CSFileChangeHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, updateItemsForFileChanges changes: [CSFileChange],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) { requests.update(searchableIndex, changes, acknowledgementHandler) }
}
