// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import CommandSupport
import SearchlightEngine

extension PendingDonations {
    /// The amount of pending donations, with their bundles.
    var line: String {
        let names = bundles.sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }.map(\.key)
        let whose = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and others" : "")
        let amount = "\(counted(total.donations, "donation")) (\(counted(total.items, "item")), \(sized(total.bytes)))"
        return "\(amount) of \(whose) \(total.donations == 1 ? "is" : "are") not included yet"
    }
}

/// Reports on standard error recent donations that an answer does not include yet.
func warnOfPending(_ pending: PendingDonations?) {
    guard let pending, !pending.isEmpty else { return }
    Output.complain("Note: \(Output.tidied(pending.line)).")
}
