// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// How new an item is for a person: not when an app happened to donate it, but when it was last made, changed or used
/// (`FreshnessRule` says what that is worth).
enum Freshness {
    static let attributes = [
        "lastUsedDate", "contentModificationDate", "addedDate", "downloadedDate", "contentCreationDate",
    ]

    /// The latest of the item's dates that is not after its donation, or else the donation; seconds since 2001.
    static func date(of record: ItemRecord, donated: Double) -> Double {
        var latest: Double?
        for name in attributes {
            guard case .date(let date) = record.attributes[name], date.isFinite, date <= donated else { continue }
            latest = max(latest ?? date, date)
        }
        return latest ?? donated
    }
}
