// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ServiceMessages

/// The limits for a reindex in pages.
package struct ReindexPageLimits: Hashable, Sendable {
    /// The approximate number of items after which a page ends.
    package var items: UInt32 = 1000
    /// The time in milliseconds after which a page ends. It is shorter than the time in which a
    /// worker must show its first sign of life.
    package var milliseconds: UInt32 = 2000
    /// The maximum number of pages in one reindex.
    package var pages = 100_000
    /// The number of pages between two progress checks. If there are no new or confirmed items
    /// between two checks, the reindex fails.
    package var fruitlessPages = 500

    /// The default limits.
    package init() {}
}

/// Requests page after page from an extension, until the extension reports the last page or a limit
/// is reached.
struct PagedReindex {
    let host: ExtensionHost
    let bundle: String
    let limits: ReindexPageLimits
    /// The worker's memory limit in bytes.
    let memory: Int
    var origin = RequestOrigin.person
    /// Called after each page except the last; `false` ends the reindex.
    var checkpoint: JobCheckpoint = { true }

    /// The progress of a reindex.
    struct Yield: Equatable {
        var items: Int
        var unconfirmed: Int

        /// Returns `true` if there are no more items, and no fewer unconfirmed items, than before.
        func isNoMore(than before: Yield) -> Bool { items <= before.items && unconfirmed >= before.unconfirmed }
    }

    /// Requests all pages, starting at a cursor.
    ///
    /// - Parameters:
    ///   - cursor: The cursor of the first page; `nil` starts from the beginning.
    ///   - pages: The number of previously acknowledged pages.
    ///   - yield: Returns the current progress.
    ///   - onPage: Called after each page except the last, with the next cursor and the number of
    ///     pages.
    /// - Throws: ``EngineError``. Acknowledged pages stay acknowledged.
    func run(
        from cursor: [UInt8]?, after pages: Int, yield: () async throws(EngineError) -> Yield,
        onPage: (_ next: [UInt8], _ pages: Int) throws(EngineError) -> Void
    ) async throws(EngineError) {
        var (cursor, pages, rest) = (cursor, pages, limits.fruitlessPages)
        var before: Yield?
        while let next = try await page(from: cursor) {
            pages += 1
            rest -= 1
            guard next != cursor else { throw endless("page \(pages) ended at its own start") }
            guard pages < limits.pages else { throw endless("it reached the limit of \(pages) pages") }
            // The cursor is saved first, so that an acknowledged page is not requested again if a
            // later step fails.
            try onPage(next, pages)
            if rest == 0 {
                let now = try await yield()
                if let before, now.isNoMore(than: before) {
                    throw endless("the last \(limits.fruitlessPages) pages have no new items")
                }
                (before, rest) = (now, limits.fruitlessPages)
            }
            guard await checkpoint() else { throw .extension(.cancelled) }
            cursor = next
        }
    }

    private func page(from cursor: [UInt8]?) async throws(EngineError) -> [UInt8]? {
        let page = ReindexPage(
            cursor: cursor, items: limits.items, milliseconds: limits.milliseconds,
            memoryLimit: UInt64(clamping: memory))
        do throws(ExtensionError) {
            return try await host.reindexPage(page, bundle, origin: origin).next
        } catch {
            throw .extension(error)
        }
    }

    private func endless(_ what: String) -> EngineError {
        .extension(
            .malformedAnswer(
                identifier: bundle, during: "reindex everything in pages",
                reason: what + ". End the last page with the cursor NULL"))
    }
}
