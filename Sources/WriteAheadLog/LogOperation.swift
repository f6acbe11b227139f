// SPDX-License-Identifier: Apache-2.0

/// One change to the items of a scope.
package enum LogOperation: Hashable, Sendable {
    /// Adds, replaces or merges an item: its record as the donor encoded it. The log does not look inside.
    case put([UInt8])
    /// Deletes items by their unique identifiers.
    case deleteItems([String])
    /// Deletes the items of domains and of the domains below them.
    case deleteDomains([String])
    /// Deletes all items of the scope, and its client state.
    case deleteAll
}
