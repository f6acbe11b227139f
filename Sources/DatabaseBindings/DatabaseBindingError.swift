// SPDX-License-Identifier: Apache-2.0

/// An error in `Searchlight.Database`, with the key, the column and a remedy.
package struct DatabaseBindingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key below `Searchlight.Database`, such as `Items.1.Attributes.title`. Array entries are
    /// numbered from 1.
    package var key: String
    /// The column that causes the error.
    package var column: String?
    /// The problem.
    package var problem: String
    /// The remedy.
    package var advice: String
    /// A misspelt name, and the existing names.
    package var misspelt: Misspelt?

    /// An unknown name, for a suggestion.
    package struct Misspelt: Hashable, Sendable {
        package var name: String
        package var known: [String]
    }

    init(
        _ path: [String], column: String? = nil, _ problem: String, _ advice: String, misspelt: Misspelt? = nil
    ) {
        key = path.joined(separator: ".")
        self.column = column
        self.problem = problem
        self.advice = advice
        self.misspelt = misspelt
    }

    /// The key, the column, the problem and the remedy.
    package var description: String {
        let place = key.isEmpty ? "Searchlight.Database" : "Searchlight.Database.\(key)"
        let column = column.map { ", column “\($0.isEmpty ? " " : $0)”" } ?? ""
        return "\(place)\(column): \(problem). \(advice)."
    }
}
