// SPDX-License-Identifier: Apache-2.0
import ContentLines
import FileReading
import Foundation

/// An event, a task or a journal entry, with the changed occurrences of a series.
package struct CalendarEntry {
    package enum Kind: Sendable, Equatable { case event, task, journal }

    /// A part of an entry that is missing, in a few words.
    package enum Problem: String, Sendable, Equatable {
        case tooManyLines = "some lines are left out, because there are more than 5000 or a line is too long"
        case tooManyValues = "some values are left out, because there are more than 200 of a kind"
        case tooManyDates = "some repetitions are left out, because there are more than 2000 dates or 4 rules"
        case longValue = "a value is cut after 65536 bytes"
        case unknownZone = "its time zone is unknown, so its times count in the zone of this machine"
        case invalidDate = "a date cannot be read"
        case invalidRule = "its rule of repetition cannot be read, so only its first date is indexed"
        case tooOften = "it repeats too often, so only its first date is indexed"
        case outOfTime = "the repetitions of its file take too long, so only its first date is indexed"
        case noEnd = "its END line is missing"
    }

    /// An occurrence of an entry, in seconds since 1970 UTC.
    package struct Occurrence: Sendable, Equatable {
        package var start: Int
        package var end: Int
    }

    package var kind: Kind
    package var identifier: String?
    package var title = ""
    package var description = ""
    package var location = ""
    package var url: String?
    package var categories: [String] = []
    package var organiser: CalendarPerson?
    package var attendees: [CalendarPerson] = []
    package var attachments: [String] = []
    /// The status in upper case, such as `CANCELLED`.
    package var status: String?
    package var isPrivate = false
    package var priority: Int?
    package var percent: Int?
    package var position: (latitude: Double, longitude: Double)?
    package var isAllDay = false
    package var completed: Date?
    package var created: Date?
    package var modified: Date?
    /// The recurrence rule in words; nil without one.
    package var repeats: String?
    /// The next occurrence, or else the last known occurrence; nil without a date.
    package var occurrence: Occurrence?
    /// The starts of a series' recent and coming occurrences, in chronological order.
    package var dates: [Int] = []
    /// `true` if the series has further occurrences, so that the item must be renewed.
    package var isContinued = false
    /// The texts of changed occurrences that differ from the entry's own text.
    package var changedTexts: [String] = []
    package var problems: [Problem] = []
}

/// The clocks used when calendars are read.
package struct CalendarClock {
    /// The current time in seconds since 1970.
    package var now: Int
    /// The name of the zone for times without a zone.
    package var zone: String
    /// Returns `true` if the time for expanding recurrences is used up.
    package var isOver: () -> Bool

    package init(now: Int, zone: String, isOver: @escaping () -> Bool = { false }) {
        (self.now, self.zone, self.isOver) = (now, zone, isOver)
    }
}
