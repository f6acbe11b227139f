// SPDX-License-Identifier: Apache-2.0
import UniformTypeIdentifiers

extension UTType {
    /// The name of the type for the user, such as “PDF document”.
    ///
    /// The item of a calendar file is one event, so its kind is “calendar event”, although Apple
    /// names the type of the file “ICS File”.
    package var kindName: String? {
        (conforms(to: .calendarEvent) ? UTType.calendarEvent : self).localizedDescription
    }
}
