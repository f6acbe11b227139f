// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// The facts about an index that are visible in the store's folder without opening anything.
package struct StoreMarks: Hashable, Sendable {
    /// `true` if damage was found since the last full check.
    package var isDamaged = false
    /// The damage whose repair was refused, since it would lose items that no extension donates
    /// again; `nil` if there is none.
    package var refusedRepair: String?
    /// `true` if item use is counted and affects the ranking.
    package var learns = true

    /// The marks of an undamaged store that learns.
    package init() {}

    /// Reads the marks of a folder. A missing folder has none.
    package init(store directory: String) {
        isDamaged = SearchIndex.isMarkedDamaged(in: directory)
        refusedRepair = SearchIndex.refusedRepair(in: directory)
        learns = SearchIndex.learns(in: directory)
    }
}
