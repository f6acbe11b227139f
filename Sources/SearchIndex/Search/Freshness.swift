// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// The date that determines the freshness of an item: when it was last created, changed or used,
/// rather than donated. `FreshnessRule` defines the effect on the score.
enum Freshness {
    static let attributes = [
        "lastUsedDate", "contentModificationDate", "addedDate", "downloadedDate", "contentCreationDate",
    ]

    /// Returns the latest of the item's dates that is not after its donation, or the donation date
    /// if there is none, in seconds since 2001.
    static func date(of record: ItemRecord, donated: Double) -> Double {
        var latest: Double?
        for name in attributes {
            guard case .date(let date) = record.attributes[name], date.isFinite, date <= donated else { continue }
            latest = max(latest ?? date, date)
        }
        return latest ?? donated
    }
}
