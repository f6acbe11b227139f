// SPDX-License-Identifier: Apache-2.0
import ExtensionHost

extension CheckContext {
    /// A page that has been donated.
    private struct Page: Sendable {
        /// The cursor at the start of the page.
        var cursor: [UInt8]?
        var next: [UInt8]?
        var identifiers: Set<String>
    }

    /// The size of small pages, in items, and the factor by which a page may exceed it.
    private static let smallPage: UInt32 = 3
    private static let factor = 10
    /// The maximum number of small pages, the minimum for a slow extension, and the number of pages
    /// that are requested again.
    private static let maximumSmallPages = 300
    private static let leastSmallPages = 20
    private static let resumedPages = 4
    /// The maximum number of consecutive empty pages.
    private static let maximumEmptyPages = 100

    func checkPaging() async throws(ExtensionError) -> CheckResult {
        guard survey.isServed else { return .skipped(reason: "it serves no reindex") }
        var findings = Findings()
        let pages = try await withTrial { (trial) throws(ExtensionError) -> [Page]? in
            guard try await trial.isPaged() else { return nil }
            return try await smallPages(trial, &findings)
        }
        guard let pages else { return .skipped(reason: "it does not serve searchlight.paging/1") }
        guard findings.hasNoFailure else { return findings.result }
        if pages.last?.next == nil {
            let paged = pages.reduce(into: Set<String>()) { $0.formUnion($1.identifiers) }
            let missing = Set(survey.items.keys.map(\.identifier)).subtracting(paged)
            if let first = missing.min() {
                findings.fail(
                    "Small pages lacked \(missing.count) items of large pages, such as \(first.quoted).",
                    "Continue exactly at the cursor, independent of the size of the previous page.")
            }
        }
        var generator = generator
        for page in generator.sample(pages.filter { $0.cursor != nil }, Self.resumedPages) {
            try await resume(page, &findings)
        }
        return findings.result
    }

    private func smallPages(_ trial: Trial, _ findings: inout Findings) async throws(ExtensionError) -> [Page] {
        var pages: [Page] = []
        var cursor: [UInt8]?
        var seen: Set<[UInt8]> = []
        var empty = 0
        let elapsed = stopwatch(configuration.clock)
        repeat {
            trial.items.beginAnew(keepingItems: true)
            let next = try await trial.reindexPage(cursor, items: Self.smallPage).next
            let identifiers = trial.items.touched
            pages.append(Page(cursor: cursor, next: next, identifiers: identifiers))
            if identifiers.count > Int(Self.smallPage) * Self.factor {
                findings.warn(
                    "A page with a budget of \(Self.smallPage) items had \(identifiers.count).",
                    "End a page after about as many items as its budget; its donations are held in memory.")
            }
            empty = identifiers.isEmpty ? empty + 1 : 0
            if let next, !seen.insert(next).inserted || empty > Self.maximumEmptyPages {
                findings.fail(
                    empty > Self.maximumEmptyPages
                        ? "\(empty) pages in a row donated nothing."
                        : "A cursor was repeated, so the pages never end.",
                    "Continue each page after the previous one, and end the last page with NULL as the next cursor.")
                return pages
            }
            cursor = next
        } while cursor != nil && pages.count < Self.maximumSmallPages
            && (pages.count < Self.leastSmallPages || elapsed() < settings.repetitionTime)
        return pages
    }

    /// Requests a page again in another process, as a host does after a crash.
    private func resume(_ page: Page, _ findings: inout Findings) async throws(ExtensionError) {
        let again = try await withTrial { (trial) throws(ExtensionError) in
            let next = try await trial.reindexPage(page.cursor, items: Self.smallPage).next
            return Page(cursor: page.cursor, next: next, identifiers: trial.items.touched)
        }
        guard again.identifiers != page.identifiers || again.next != page.next else { return }
        findings.fail(
            """
            In a new process the page at the cursor \(String(decoding: page.cursor ?? [], as: UTF8.self).quoted) had \
            \(again.identifiers.count) items instead of \(page.identifiers.count), or a different end.
            """,
            "Put the complete position into the cursor; state in memory is lost after a crash.")
    }
}
