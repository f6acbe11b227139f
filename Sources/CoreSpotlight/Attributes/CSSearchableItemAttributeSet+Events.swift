// SPDX-License-Identifier: Apache-2.0

import Foundation

// Appointments and things to do.
extension CSSearchableItemAttributeSet {
    /// The due date of the item.
    public var dueDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The date of completion.
    public var completionDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The start date.
    public var startDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The end date.
    public var endDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// Other important dates of the item.
    public var importantDates: [Date]? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the event lasts all day (1) or not (0).
    public var allDay: NSNumber? {
        get { value() }
        set { store(newValue) }
    }
}
