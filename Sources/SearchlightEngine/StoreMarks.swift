// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// What a store's folder tells of the index while nothing is opened.
package struct StoreMarks: Hashable, Sendable {
    /// Whether damage was met since everything was checked the last time.
    package var isDamaged = false
    /// Whether use is counted and changes the order of hits.
    package var learns = true

    /// Creates marks of a store at which nothing is wrong and that learns.
    package init() {}

    /// Looks at a folder. One that is missing has no marks.
    package init(store directory: String) {
        isDamaged = SearchIndex.isMarkedDamaged(in: directory)
        learns = SearchIndex.learns(in: directory)
    }
}
