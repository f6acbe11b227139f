// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import Foundation
import PluginTesting
import Synchronization
import Testing

@testable import CalendarEntries
@testable import Calendars

/// The Calendars handler, with an index that records calls.
@Suite("Calendars handler")
final class CalendarsHandlerTests {
    private let home: String
    private let index = RecordingIndex()
    private var reports: [String] = []
    private let states = RecordStates.inMemory()

    init() throws {
        home = FileManager.default.temporaryDirectory.path + "/calendars-handler-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: home + "/.calendars/private", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: home + "/.local/share/evolution/calendar/system", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    private func path(_ name: String) -> String { home + "/.calendars/private/" + name }

    private func handler() -> IndexRequestHandler {
        let variables = ["HOME": home]
        var environment = RecordRequests<CalendarFile>.Environment(settings: { () throws(Skip) in
            try .calendars(environment: variables)
        })
        environment.report = { [unowned self] in reports.append($0) }
        environment.states = states
        var clock = IndexRequestHandler.Clock()
        // 2026-01-10 12:00 UTC.
        clock.date = { Date(timeIntervalSince1970: 1_768_046_400) }
        clock.zone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
        return IndexRequestHandler(environment, clock)
    }

    private func reindexAll() {
        let handler = handler()
        var cursor: Data?
        repeat {
            let answer = Mutex<Data??>(nil)
            handler.searchableIndex(
                index, reindexPage: CSReindexPage(cursor: cursor, maximumItemCount: 10, maximumDuration: .seconds(600))
            ) { next in answer.withLock { $0 = .some(next) } }
            cursor = answer.withLock { $0 } ?? nil
        } while cursor != nil
    }

    @Test("The file with the user's folders, which Calendars may not read, does not matter")
    func userDirectories() throws {
        // A folder cannot be read as a file.
        try FileManager.default.createDirectory(
            atPath: home + "/.config/user-dirs.dirs", withIntermediateDirectories: true)
        let settings = try FolderSettings.calendars(environment: ["HOME": home])
        #expect(settings.isComplete && settings.problems == [])
    }

    private func item(_ title: String) throws -> CSSearchableItem {
        try #require(index.recorded.kept.values.first { $0.attributeSet.title == title })
    }

    private func copySamples() throws {
        try SamplePeople("calendars").copy(to: home + "/.calendars/private")
    }

    @Test func entriesOfAllFilesAreDonated() throws {
        try copySamples()
        reindexAll()
        #expect(index.recorded.kept.count == 61 && index.recorded.items.count == 61)
        let series = try item("Stand-up")
        let attributes = series.attributeSet
        #expect(attributes.contentType == "com.apple.ical.ics" && attributes.containerTitle == "Work")
        #expect(attributes.startDate == Date(timeIntervalSince1970: 1_768_222_800) && attributes.allDay == 0)
        #expect(attributes.importantDates?.count == 51 && attributes.namedLocation == "Room Nautilus")
        #expect(attributes.authors?.first?.handles == ["ada@example.org"] && attributes.participants == ["Bob"])
        // The series is requested again a week before this date.
        #expect(series.expirationDate == Date(timeIntervalSince1970: 1_771_632_000))
        #expect(try item("Picnic").expirationDate == .distantFuture)
        let task = try item("File the tax return").attributeSet
        #expect(task.contentType == "public.to-do-item" && task.dueDate == Date(timeIntervalSince1970: 1_780_243_200))
        #expect(try item("Buy rope").attributeSet.completionDate != nil)
        #expect(try item("Logbook").attributeSet.contentType == "public.plain-text")
    }

    @Test func representationsAreDelivered() throws {
        try copySamples()
        reindexAll()
        let handler = handler()
        let series = try item("Stand-up").uniqueIdentifier
        func text(_ item: String, _ type: String) throws -> String {
            String(decoding: try handler.data(for: index, itemIdentifier: item, typeIdentifier: type), as: UTF8.self)
        }
        #expect(try text(series, "com.apple.ical.ics").hasPrefix("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"))
        #expect(try text(series, "public.utf8-plain-text").hasPrefix("Stand-up\nWhen: "))
        #expect(try text(series, "public.url") == "https://meet.example/abc")
        #expect(throws: UnsupportedType.self) { try text(series, "public.png") }
        let trip = try item("Sailing trip")
        #expect(trip.attributeSet.providerInPlaceFileTypeIdentifiers == ["com.apple.ical.ics"])
        let file = try handler.fileURL(
            for: index, itemIdentifier: trip.uniqueIdentifier, typeIdentifier: "com.apple.ical.ics", inPlace: true)
        #expect(file.path(percentEncoded: false) == path("khal.ics"))
    }

    @Test func entriesOfEvolutionOpenInEvolution() throws {
        let file = home + "/.local/share/evolution/calendar/system/calendar.ics"
        let text =
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a@b\nSUMMARY:Tea\nDTSTART:20260606T100000Z\nEND:VEVENT\nEND:VCALENDAR\n"
        try Data(text.utf8).write(to: URL(filePath: file))
        reindexAll()
        let attributes = try item("Tea").attributeSet
        #expect(attributes.url?.absoluteString == "calendar:///?source-uid=system%2Dcalendar&comp-uid=a%40b")
        #expect(attributes.contentURL == nil && attributes.containerTitle == "Personal")
    }

    @Test func aChangedOccurrenceUpdatesItsSeries() throws {
        try copySamples()
        reindexAll()
        let calendar = path("google.ics")
        let text = try String(contentsOfFile: calendar, encoding: .utf8)
        try Data(text.replacing("Room Argonaut", with: "Room Kraken").utf8).write(to: URL(filePath: calendar))
        let isDone = Mutex(false)
        handler().searchableIndex(index, updateItemsForFileChanges: [.changed(URL(filePath: calendar))]) {
            isDone.withLock { $0 = true }
        }
        #expect(isDone.withLock { $0 })
        #expect(try item("Stand-up").attributeSet.textContent?.contains("Room Kraken") == true)
    }

    @Test func previewsShowTheEntry() async throws {
        try copySamples()
        reindexAll()
        let reply = try await handler().providePreviewOfSearchableItem(
            identifier: item("Planning").uniqueIdentifier, queryString: nil)
        #expect(reply.title == "Planning")
    }
}
