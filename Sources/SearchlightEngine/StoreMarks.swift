// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// The facts about an index that can be read from the store's folder without opening the store.
package struct StoreMarks: Hashable, Sendable {
    /// `true` if damage was found since the last full check.
    package var isDamaged = false
    /// The damage whose repair was rejected because it would lose items that no extension can
    /// donate again; `nil` if there is none.
    package var refusedRepair: String?
    /// `true` if item use is counted and affects the ranking.
    package var learns = true
    /// A sentence for each problem of a file of protected indexes.
    package var protectionProblems: [String] = []

    /// Creates the marks of an undamaged store that counts item use.
    package init() {}

    /// Reads the marks in a folder. A missing folder has no marks.
    package init(store directory: String) {
        isDamaged = SearchIndex.isMarkedDamaged(in: directory)
        refusedRepair = SearchIndex.refusedRepair(in: directory)
        learns = SearchIndex.learns(in: directory)
        protectionProblems = ProtectionInspection(store: directory, reads: false).problems
    }
}
