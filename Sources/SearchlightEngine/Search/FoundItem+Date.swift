// SPDX-License-Identifier: Apache-2.0
import Previews
import UniformTypeIdentifiers

extension FoundItem {
    /// The attributes that ``date`` reads; a search must request them.
    package static let dateAttributes: Set<String> = ["startDate", "contentCreationDate", "contentModificationDate"]

    /// The date by which a user knows the item, in seconds since 2001-01-01 UTC; `nil` if it has
    /// no date in the years 1 to 9999.
    ///
    /// An event has its start. A picture, film, recording or message has the time at which it was
    /// made, because a copy or a change of its keywords does not make it newer. Other items have
    /// their last change.
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
