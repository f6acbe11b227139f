// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ServiceMessages

/// How much a page of a reindex may take, and how many pages there may be.
package struct ReindexPageLimits: Hashable, Sendable {
    /// A page ends after about so many items,
    package var items: UInt32 = 1000
    /// or after so many milliseconds: less than a worker may take to its first sign of life.
    package var milliseconds: UInt32 = 2000
    /// The most pages of one reindex.
    package var pages = 100_000
    /// After each so many pages, the bundle must have become more, or less unsure, than after as many before.
    package var fruitlessPages = 500

    /// The limits of the design.
    package init() {}
}

/// Asks an extension for one page after the other, until it says that it was the last, or there are too many.
struct PagedReindex {
    let host: ExtensionHost
    let bundle: String
    let limits: ReindexPageLimits
    /// What the worker may take, in bytes.
    let memory: Int
    var origin = RequestOrigin.person
    /// Asked after each page but the last.
    var checkpoint: JobCheckpoint = { true }

    /// What grows while pages bring anything.
    struct Yield: Equatable {
        var items: Int
        var unconfirmed: Int

        /// Whether the pages since have brought nothing.
        func isNoMore(than before: Yield) -> Bool { items <= before.items && unconfirmed >= before.unconfirmed }
    }

    /// - Parameters:
    ///   - cursor: Where to begin; `nil` is the beginning.
    ///   - pages: How many pages were acknowledged before.
    ///   - yield: Says what the pages have brought.
    ///   - onPage: Called after each page but the last, with the next cursor and the number of pages.
    /// - Throws: ``EngineError``; what was acknowledged stays so.
    func run(
        from cursor: [UInt8]?, after pages: Int, yield: () async throws(EngineError) -> Yield,
        onPage: (_ next: [UInt8], _ pages: Int) throws(EngineError) -> Void
    ) async throws(EngineError) {
        var (cursor, pages, rest) = (cursor, pages, limits.fruitlessPages)
        var before: Yield?
        while let next = try await page(from: cursor) {
            pages += 1
            rest -= 1
            guard next != cursor else { throw endless("page \(pages) ended where it had begun") }
            guard pages < limits.pages else { throw endless("it has made \(pages) pages, and no more may be") }
            // First, so that a page that was acknowledged is not asked for again, whatever becomes of the rest.
            try onPage(next, pages)
            if rest == 0 {
                let now = try await yield()
                if let before, now.isNoMore(than: before) {
                    throw endless("the last \(limits.fruitlessPages) pages have brought nothing new")
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
                reason: what + ". The last page must be ended with the cursor NULL"))
    }
}
