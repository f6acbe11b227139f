// SPDX-License-Identifier: Apache-2.0
import FileWatching
import ItemRecord
import SearchIndex
import SystemSupport

/// The files of a bundle while its extension is asked for everything.
struct FilesInReindex: Sendable {
    /// What to acknowledge once it has brought everything; `nil` if no files of it are followed.
    var request: EverythingRequest?
    /// Places that are not there or cannot be read. An extension sees nothing in them, which proves nothing.
    var away: Set<String> = []
    /// Whether it is not known which places are away.
    var isUnknown = false

    /// Whether an item may be of a file in a place that is away. One that names no file may be of any.
    func mayHold(_ record: ItemRecord) -> Bool {
        guard let path = record.contentPath else { return true }
        return away.contains { lies(path, in: $0) }
    }
}

extension SearchlightEngine {
    /// Remembers what had changed before an extension is asked for everything, which tells it of that.
    ///
    /// - Parameter isResumed: Whether the request goes on that was begun before.
    func beginReindexOfFiles(_ bundle: String, isResumed: Bool) async -> FilesInReindex {
        guard let files, followsFiles(of: bundle) else { return FilesInReindex() }
        if !isResumed, let watch = fileFollower.withLock({ $0 }) {
            // A file that the extension sees and that goes before it was noted would stay found.
            await watch(bundle)
        }
        let isFollowed = fileFollower.withLock { $0 != nil }
        do throws(EngineError) {
            return try await files.compare { [self] (snapshot) throws(FileWatchingError) in
                if !isFollowed { try snapshot.setTrees(watchedTrees()) }
                if !isResumed { try Self.takeLists(of: bundle, snapshot) }
                let away = try Self.awayPlaces(of: bundle, snapshot)
                let request = isResumed ? try snapshot.request(of: bundle) : try snapshot.beginEverything(of: bundle)
                return FilesInReindex(request: request, away: away)
            }
        } catch {
            // Without the note, the extension is told of files once more that it has brought.
            return FilesInReindex(isUnknown: true)
        }
    }

    private func followsFiles(of bundle: String) -> Bool {
        (try? registry.bundle(bundle)).map { $0.manifest.access.watchedPaths != .none } ?? false
    }

    private static func awayPlaces(
        of bundle: String, _ snapshot: FileSnapshot
    ) throws(FileWatchingError) -> Set<String> {
        var away: Set<String> = []
        for tree in try snapshot.trees() where tree.rule.owner == bundle {
            away.formUnion(try snapshot.compare(tree).unavailable)
        }
        return away
    }

    /// Compares once more when an extension has brought everything: what came meanwhile, and may go before it is noted, would stay
    /// found; and what is away now may have been away for the extension.
    func endReindexOfFiles(_ bundle: String, _ before: FilesInReindex) async -> FilesInReindex {
        guard let files, before.request != nil else { return before }
        var now = before
        do throws(EngineError) {
            now.away.formUnion(
                try await files.compare { (snapshot) throws(FileWatchingError) in
                    try Self.awayPlaces(of: bundle, snapshot)
                })
        } catch { now.isUnknown = true }
        return now
    }

    /// Notes that an extension has brought everything.
    func noteReindex(of bundle: String, _ reindex: FilesInReindex) async throws(EngineError) {
        let now = configuration.now()
        outlook.withLock { $0.reindexedForFiles[bundle] = now }
        guard let files, let request = reindex.request else { return }
        try await files.use { (snapshot) throws(FileWatchingError) in try snapshot.acknowledge(request) }
        try await oweGone(bundle, files, reindex)
        _ = try await takeFileNews()
    }

    /// The most items that are asked for since their files went during a reindex.
    private static let maximumGone = 500

    /// Has an extension asked for items whose files came and went while it was asked for everything: nobody may have noticed them.
    private func oweGone(_ bundle: String, _ files: FollowedFiles, _ reindex: FilesInReindex) async throws(EngineError)
    {
        guard !reindex.isUnknown else { return }
        let roots = try await files.use { (snapshot) throws(FileWatchingError) in
            try snapshot.trees().filter { $0.rule.owner == bundle }.map(\.rule.root)
        }
        var gone: Set<String> = []
        var cursor: QueryCursor?
        repeat {
            let page = try await onQuery { (index) throws(IndexQueryError) in
                try await index.items(matching: .and([]), bundle: bundle, limit: 1000, after: cursor)
            }
            let paths = page.items.compactMap { item -> (String, String)? in
                guard let path = item.record.contentPath, roots.contains(where: { lies(path, in: $0) }),
                    !reindex.mayHold(item.record)
                else { return nil }
                return (item.record.uniqueIdentifier, path)
            }
            gone.formUnion(
                try await files.compare { _ in paths.filter { FollowedFiles.isMissing($0.1) }.map(\.0) })
            cursor = page.next
        } while cursor != nil && gone.count < Self.maximumGone
        guard !gone.isEmpty else { return }
        try owe(.reindexItems(Set(gone.prefix(Self.maximumGone))), of: bundle, cause: .foundGone)
    }

    /// Those of some items that are to be asked for: not those of files in places that are away, which an extension would delete.
    func withoutAway(_ items: Set<String>, of bundle: String) async -> Set<String> {
        guard let files, followsFiles(of: bundle) else { return items }
        var paths: [String: String] = [:]
        for item in items {
            let found = try? await onIndex { (index) throws(SearchIndexError) in
                try await index.items(uniqueIdentifier: item, bundle: bundle)
            }
            paths[item] = found?.lazy.compactMap(\.record.contentPath).first
        }
        guard !paths.isEmpty else { return items }
        let all = Set(paths.values)
        let away = try? await files.compare { (snapshot) throws(FileWatchingError) in
            var away: Set<String> = []
            for tree in try snapshot.trees()
            where tree.rule.owner == bundle && all.contains(where: { lies($0, in: tree.rule.root) }) {
                away.formUnion(try snapshot.compare(tree).unavailable)
            }
            return away
        }
        guard let away, !away.isEmpty else { return items }
        return items.filter { item in paths[item].map { path in !away.contains { lies(path, in: $0) } } ?? true }
    }
}
