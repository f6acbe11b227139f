// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling

extension JournalEntry.Kind {
    /// The decision in one or two words.
    var words: String {
        switch self {
        case .start: "starts"
        case .wait: "waits"
        case .pause: "pauses"
        case .resume: "continues"
        case .stop: "is stopped"
        case .done: "is done"
        case .fail: "failed"
        }
    }
}

extension ScheduledJob.Key {
    /// The job in words.
    var words: String {
        switch self {
        case .reindex(let bundle): bundle
        case .files(let bundle): "reporting changed files to \(bundle)"
        case .encrypted(let bundle): "requesting the encrypted items of \(bundle)"
        case .maintenance(.purgeExpired): "deleting expired items"
        case .maintenance(.optimize): "optimizing the index"
        case .maintenance(.vacuum): "vacuuming the index"
        case .maintenance(.embed): "embedding items for the search by meaning"
        }
    }
}

extension ScheduledJob.Key {
    /// The other jobs of a bundle, whose name alone denotes its reindex; none for another job.
    var others: [ScheduledJob.Key] {
        guard case .reindex(let bundle) = self else { return [] }
        return [.files(bundle: bundle), .encrypted(bundle: bundle)]
    }
}

extension Usage {
    /// The usage in words.
    var words: String {
        var parts = [
            cpu < 10 ? String(format: "%.2f s of processor time", cpu) : String(format: "%.0f s of processor time", cpu)
        ]
        if written > 0 { parts.append("\(sized(Int(clamping: written))) written") }
        return parts.joined(separator: ", ")
    }
}
