// SPDX-License-Identifier: Apache-2.0

/// A lookup in a full-text table.
struct FullTextLookup {
    /// The full-text table (``FullTextIndex``).
    var table: StaticString
    /// The FTS5 expression. It consists of ASCII words and tags and never contains the text of a
    /// query.
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
