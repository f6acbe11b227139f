// SPDX-License-Identifier: Apache-2.0

/// Items that the full-text tables find.
struct FullTextLookup {
    /// Which of the tables (``FullTextIndex``).
    var table: StaticString
    /// What it is asked. Made of plain words and tags, never of the text of a query.
    var expression: String

    func select(_ fragment: inout SQLFragment) {
        fragment.append("SELECT text_row.item AS item FROM ")
        fragment.append(table)
        fragment.append(" CROSS JOIN text_row ON text_row.id = ")
        fragment.append(table)
        fragment.append(".rowid WHERE ")
        fragment.append(table)
        fragment.append(" MATCH ?", expression)
    }
}
