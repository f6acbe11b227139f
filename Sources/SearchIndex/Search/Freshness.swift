// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord

/// How new an item is for a person: not when an app happened to donate it, but when it was last made, changed or used.
enum Freshness {
    private static let attributes = [
        "lastUsedDate", "contentModificationDate", "addedDate", "downloadedDate", "contentCreationDate",
    ]
    /// After so many seconds half of the freshness is gone: 30 days.
    static let halfLife = 30.0 * 86400

    /// The latest of the item's dates that is not after its donation, or else the donation; seconds since 2001.
    static func date(of record: ItemRecord, donated: Double) -> Double {
        var latest: Double?
        for name in attributes {
            guard case .date(let date) = record.attributes[name], date.isFinite, date <= donated else { continue }
            latest = max(latest ?? date, date)
        }
        return latest ?? donated
    }

    /// 1 for something of this moment, towards 0 for what is old.
    static func value(of date: Double, now: Double) -> Double { exp2(-max(0, now - date) / halfLife) }
}
