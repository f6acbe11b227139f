// SPDX-License-Identifier: Apache-2.0
import Foundation
import SearchIndex
import SearchlightEngine

/// The guarantees for everything that the service derives or does beside donations: followed files,
/// databases, embeddings, counts of use, and opened items.
extension InvariantCheck {
    /// The time limit for followed files. If the snapshot of the files could not be written, the
    /// service tries again after a minute.
    private static let patienceWithFiles = Duration.seconds(90)

    func followed(_ store: RemoteEngine) async throws {
        let files = AuthoredFiles(place: place)
        let (notes, rows) = (try files.notes(), try files.rows())
        for (bundle, expected) in [(TorturePlace.journal, notes), (TorturePlace.tasks, rows)] {
            // A client may have throttled the extension.
            _ = try await store.setThrottled(false, bundle)
            let hasAll = try await eventually("items differ from their files", within: Self.patienceWithFiles) {
                difference(try await store.allItems(of: bundle), expected)
            }
            guard !hasAll else { continue }
            let jobs = try await store.schedule(of: [.files(bundle: bundle), .reindex(bundle: bundle)])
            let status = try await store.perform(StatusCall(isExact: false))
            report.say("\(jobs.jobs) \(status.followed) \(status.accounts.first { $0.bundle == bundle } as Any)")
        }
        report.count("notes and rows checked", notes.count + rows.count)
    }

    /// Compares items with the expected titles by identifier.
    private func difference(_ items: [StoredItem], _ expected: [String: String]) -> String? {
        var rest = expected
        for item in items {
            let name = item.record.uniqueIdentifier
            guard let title = rest.removeValue(forKey: name) else { return "\(name) is gone, and its item is not" }
            if item.record.text("title") != title {
                return "\(name) has the title “\(item.record.text("title") ?? "")”, not “\(title)”"
            }
        }
        return rest.isEmpty ? nil : "no items for \(rest.keys.sorted().prefix(5)), of \(expected.count)"
    }

    /// Checks that all items get embeddings, and that those who can have one do.
    func embedded(_ store: RemoteEngine) async throws {
        try await eventually("items are not embedded") {
            guard let status = try await store.perform(EmbedCall()) else { return "there is no model" }
            let counts = try await store.perform(ItemCountsCall())
            // All items of these bundles have a title.
            let bundles =
                (0..<TorturePlace.donors).map { TorturePlace.scope(donor: $0, epoch: state.epoch).bundle }
                + [TorturePlace.journal, TorturePlace.tasks, Chooser.bundle]
            let titled = bundles.reduce(0) { $0 + (counts[$1] ?? 0) }
            if status.pending > 0 { return "\(status.pending) items wait" }
            report.note("items with embeddings", peak: status.embedded)
            return status.embedded >= titled ? nil : "\(status.embedded) of at least \(titled) items are embedded"
        }
    }

    /// Checks that each acknowledged use is counted, and none twice.
    func uses(_ store: RemoteEngine) async throws {
        let counts = try await UseCounts(place, store)
        if let problem = counts.problem(since: state.usesBefore) { report.complain(problem) }
        report.count("uses counted", counts.counted.values.reduce(0, +))
    }

    /// Checks that each opening that the command reported has started the app, and none twice. No
    /// command may run.
    func opened() {
        let lines = place.lines(ofClients: .commander)
        let (least, most) = (lines.count { $0 == "opened" }, lines.count { $0 == "opening" })
        let text = (try? String(contentsOfFile: place.openings, encoding: .utf8)) ?? ""
        let starts = text.split(separator: "\n")
        if starts.count < least || starts.count > most {
            report.complain("the app was started \(starts.count) times, for \(least) to \(most) openings")
        }
        if let other = starts.first(where: { $0 != "torture:0" }) { report.complain("the app was given “\(other)”") }
    }
}
