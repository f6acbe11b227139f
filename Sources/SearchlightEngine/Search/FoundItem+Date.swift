// SPDX-License-Identifier: Apache-2.0
import Previews
import UniformTypeIdentifiers

extension FoundItem {
    /// The attributes that ``date`` reads; a search must request them.
    package static let dateAttributes: Set<String> = ["startDate", "contentCreationDate", "contentModificationDate"]

    /// The date that a user associates with the item, in seconds since 2001-01-01 UTC; `nil` if it
    /// has no date in the years 1 to 9999.
    ///
    /// For an event, this is its start. For a picture, film, recording or message, it is the
    /// creation time, because copying it or changing its keywords does not make it newer. For other
    /// items, it is the time of the last change.
    package var date: Double? {
        let type = contentType.flatMap { UTType($0) }
        let isMade = [UTType.image, .audiovisualContent, .message].contains { type?.conforms(to: $0) ?? false }
        let dates = ["contentModificationDate", "contentCreationDate"]
        for name in ["startDate"] + (isMade ? dates.reversed() : dates) {
            guard case .date(let moment)? = item.record.attributes[name], DisplayText.moment(moment) != nil
            else { continue }
            return moment
        }
        return nil
    }
}
