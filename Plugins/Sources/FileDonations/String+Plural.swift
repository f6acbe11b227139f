// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The plural of a noun in a report: cards, entries.
    var plural: String { hasSuffix("y") ? dropLast() + "ies" : self + "s" }
}
