// SPDX-License-Identifier: Apache-2.0
import JSONText

/// A value in a row, as SQLite stores it.
package enum RowValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// The value as text: numbers in decimal form, bytes as UTF-8 with invalid sequences replaced;
    /// `nil` for NULL.
    package var text: String? {
        switch self {
        case .null: nil
        case .integer(let number): "\(number)"
        case .real(let number): number.plain
        case .text(let text): text
        case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The value as a number; `nil` for NULL, bytes, and text that is not a number.
    package var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .text(let text): Double(text)
        case .null, .blob: nil
        }
    }
}

/// A row from a SELECT: the values, and the names of the columns in lower case.
package struct Row: Sendable {
    /// The positions of the columns, by name in lower case. All rows of a statement share it.
    private let positions: [String: Int]
    package let values: [RowValue]
    /// The columns whose values exceed ``DatabaseLimits/valueBytes``. Text is cut at the limit, and
    /// bytes are left out.
    private let cut: Set<Int>

    package init(positions: [String: Int], values: [RowValue], cut: Set<Int> = []) {
        self.positions = positions
        self.values = values
        self.cut = cut
    }

    /// Returns `true` if the value of any of these columns is incomplete.
    package func isCut(_ columns: [String]) -> Bool {
        !cut.isEmpty && columns.contains { positions[$0.lowercased()].map(cut.contains) ?? false }
    }
    /// `true` if the value of the first column is incomplete.
    package var isFirstCut: Bool { cut.contains(0) }

    /// Creates a row from names and values.
    package init(_ columns: [(String, RowValue)]) {
        let names = columns.enumerated().map { ($1.0.lowercased(), $0) }
        self.init(positions: Dictionary(names) { first, _ in first }, values: columns.map(\.1))
    }

    /// Returns the value of a column, ignoring case; NULL if there is no such column.
    package subscript(_ column: String) -> RowValue {
        positions[column.lowercased()].map { values[$0] } ?? .null
    }
}
