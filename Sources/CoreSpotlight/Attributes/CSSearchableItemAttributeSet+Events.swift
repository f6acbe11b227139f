// SPDX-License-Identifier: Apache-2.0

import Foundation

// Appointments and things to do.
extension CSSearchableItemAttributeSet {
    /// When it is due.
    public var dueDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// When it was done.
    public var completionDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// When it starts.
    public var startDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// When it ends.
    public var endDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// Other moments that matter.
    public var importantDates: [Date]? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if it takes the whole day.
    public var allDay: NSNumber? {
        get { value() }
        set { store(newValue) }
    }
}
