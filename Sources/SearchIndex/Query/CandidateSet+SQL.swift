// SPDX-License-Identifier: Apache-2.0
import GRDB

/// A piece of SQL with the values of its parameters. Text from a query is never part of the SQL.
struct SQLFragment {
    private(set) var sql = ""
    private(set) var arguments: [DatabaseValue] = []

    mutating func append(_ sql: StaticString) { self.sql += "\(sql)" }

    /// Appends SQL composed of constants of this program.
    mutating func append(constant sql: String) { self.sql += sql }

    mutating func append(_ sql: StaticString, _ argument: some DatabaseValueConvertible) {
        self.sql += "\(sql)"
        arguments.append(argument.databaseValue)
    }

    mutating func append(_ other: SQLFragment) {
        sql += other.sql
        arguments += other.arguments
    }

    /// Appends `IN (?, ?, …)`, or `= ?` for one value.
    mutating func appendList(_ sql: StaticString, _ values: [some DatabaseValueConvertible]) {
        if values.count == 1 {
            append(sql)
            append(" = ?", values[0])
            return
        }
        append(sql)
        self.sql += " IN (" + Array(repeating: "?", count: values.count).joined(separator: ", ") + ")"
        arguments += values.map(\.databaseValue)
    }
}

extension CandidateSet {
    /// The condition that restricts `item` to the candidates; `nil` if all items are candidates.
    var condition: SQLFragment? {
        var fragment = SQLFragment()
        switch self {
        case .everything: return nil
        case .nothing: fragment.append("0")
        case .except(let set):
            fragment.append("item.id NOT IN (")
            set.select(&fragment)
            fragment.append(")")
        default:
            fragment.append("item.id IN (")
            select(&fragment)
            fragment.append(")")
        }
        return fragment
    }

    /// Appends a statement that selects item numbers, possibly repeated, as the column `item`.
    private func select(_ fragment: inout SQLFragment) {
        switch self {
        case .everything: fragment.append("SELECT id AS item FROM item")
        case .nothing: fragment.append("SELECT id AS item FROM item WHERE 0")
        case .rows(let lookup): lookup.select(&fragment)
        case .words(let lookup): lookup.select(&fragment)
        case .identifiers(.equal(let identifier)):
            fragment.append("SELECT id AS item FROM item WHERE unique_identifier = ?", identifier)
        case .identifiers(.range(let lower, let upper)):
            fragment.append("SELECT id AS item FROM item WHERE unique_identifier >= ?", lower)
            fragment.append(" AND unique_identifier < ?", upper)
        case .any(let sets):
            for (index, set) in sets.enumerated() {
                if index > 0 { fragment.append(" UNION ALL ") }
                set.selectNested(&fragment)
            }
        case .all(let sets):
            // Complements restrict a list but cannot supply one.
            let listed = sets.firstIndex { if case .except = $0 { false } else { true } }
            if let listed {
                fragment.append("SELECT item FROM (")
                sets[listed].select(&fragment)
                fragment.append(") WHERE 1")
            } else {
                fragment.append("SELECT id AS item FROM item WHERE 1")
            }
            for (index, set) in sets.enumerated() where index != listed {
                if case .except(let inner) = set {
                    fragment.append(listed == nil ? " AND id NOT IN (" : " AND item NOT IN (")
                    inner.select(&fragment)
                } else {
                    fragment.append(" AND item IN (")
                    set.select(&fragment)
                }
                fragment.append(")")
            }
        case .except(let set):
            fragment.append("SELECT id AS item FROM item WHERE id NOT IN (")
            set.select(&fragment)
            fragment.append(")")
        }
    }

    /// Appends the statement as an operand of `UNION ALL`.
    private func selectNested(_ fragment: inout SQLFragment) {
        guard case .any = self else { return select(&fragment) }
        fragment.append("SELECT item FROM (")
        select(&fragment)
        fragment.append(")")
    }
}

extension AttributeLookup {
    func select(_ fragment: inout SQLFragment) {
        fragment.append("SELECT item FROM attribute WHERE ")
        fragment.appendList("name", names)
        switch test {
        case .presence: break
        case .values(let values): fragment.appendList(" AND value", values)
        case .numbers(let lower, let upper):
            if let lower { fragment.append(lower.isIncluded ? " AND value >= ?" : " AND value > ?", lower.value) }
            // In SQLite, every text is greater than every number.
            if let upper {
                fragment.append(upper.isIncluded ? " AND value <= ?" : " AND value < ?", upper.value)
            } else {
                fragment.append(" AND value < ''")
            }
        case .texts(let lower, let upper, let parts):
            fragment.append(" AND value >= ?", lower)
            // Every blob is greater than every text.
            if let upper { fragment.append(" AND value < ?", upper) } else { fragment.append(" AND value < x''") }
            guard !parts.isEmpty else { return }
            fragment.append(" AND (")
            for (index, part) in parts.enumerated() {
                fragment.append(index == 0 ? "instr(value, ?)" : " AND instr(value, ?)", part)
            }
            fragment.append(" OR instr(value, ?)", String(AttributeKey.cutMark))
            fragment.append(")")
        }
    }
}
