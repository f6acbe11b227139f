// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import SearchlightEngine

extension BundleAccount {
    /// The bundle's missing content, one line each, without its pending reindex.
    var lines: [String] {
        var lines = omissionLines
        if let pending {
            lines.append(
                "not included yet: \(counted(pending.items, "item")) of \(counted(pending.donations, "donation"))")
        }
        if pendingFiles > 0 { lines.append("pending changed files: \(pendingFiles)") }
        return lines
    }

    /// The content that is left out of the index, one line per reason. A file whose item has only
    /// its name counts as left out, too.
    var omissionLines: [String] {
        var lines: [String] = []
        if itemsInPart > 0 {
            lines.append("indexed with only part of their text: \(counted(itemsInPart, "item"))")
        }
        for one in leftOut {
            let others = one.count > one.examples.count ? ", …" : ""
            lines.append(
                "content left out, \(one.reason): \(one.count) (\(one.examples.joined(separator: ", "))\(others))")
        }
        return lines
    }
}

extension JSONObject {
    init(_ account: BundleAccount) {
        self = [
            "bundle": account.bundle, "items": account.items, "itemsInPart": account.itemsInPart,
            "leftOut": account.leftOut, "pending": account.pending, "pendingFiles": account.pendingFiles,
            "owed": account.owed, "hasLosses": account.hasLosses, "isComplete": account.isComplete,
        ]
    }
}
