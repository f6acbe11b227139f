// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import FileWatching
import Glibc
import ItemRecord
import SearchIndex
import SystemSupport

/// A bundle's followed files during a reindex of everything.
struct FilesInReindex: Sendable {
    /// The request to acknowledge at the end of the reindex; `nil` if no files are followed for the
    /// bundle.
    var request: EverythingRequest?
    /// The missing or unreadable paths. An extension finds no files there, which does not prove
    /// that they were deleted.
    var away: Set<String> = []
    /// The folders that the user lists for the extension and that do not exist. They may have been
    /// moved or be on a disk that is not mounted. The user still wants their items.
    var missing: Set<String> = []
    /// `true` if the missing paths could not be determined.
    var isUnknown = false

    /// `true` if items are kept although the extension does not donate them.
    var keepsItems: Bool { !away.isEmpty || !missing.isEmpty }

    /// Returns `true` if an item may belong to a missing path. An item without a file path may
    /// belong to any path in ``away``, but not to a listed folder, which may never have existed.
    func mayHold(_ record: ItemRecord) -> Bool {
        let path = record.contentPath
        if path == nil, !away.isEmpty { return true }
        // The identifier is a path, or begins with one, if the extension has files without URLs.
        return [path, record.uniqueIdentifier].lazy.compactMap { $0 }.contains { path in
            away.contains { lies(path, in: $0) } || missing.contains { lies(path, in: $0) }
        }
    }
}

extension SearchlightEngine {
    /// Records the changes that precede a reindex of everything, since the reindex covers them.
    ///
    /// - Parameter isResumed: `true` if the reindex continues an earlier one.
    func beginReindexOfFiles(_ bundle: String, isResumed: Bool) async -> FilesInReindex {
        guard let files, followsFiles(of: bundle) else { return FilesInReindex() }
        if !isResumed, let watch = fileFollower.withLock({ $0 }) {
            // The files are watched first. Otherwise, if a file is deleted unnoticed after the
            // extension has indexed it, its item would stay in the index.
            await watch(bundle)
        }
        let isFollowed = fileFollower.withLock { $0 != nil }
        let listed = listedPlaces(of: bundle)
        do throws(EngineError) {
            return try await files.compare { [self] (snapshot) throws(FileWatchingError) in
                if !isFollowed { try snapshot.setTrees(watchedTrees()) }
                if !isResumed { try Self.takeLists(of: bundle, snapshot) }
                let away = try Self.awayPlaces(of: bundle, snapshot)
                let request = isResumed ? try snapshot.request(of: bundle) : try snapshot.beginEverything(of: bundle)
                return FilesInReindex(request: request, away: away, missing: Self.missing(listed))
            }
        } catch {
            // Without this record, the extension receives reports about files that the reindex
            // already covered.
            return FilesInReindex(isUnknown: true)
        }
    }

    private func followsFiles(of bundle: String) -> Bool {
        (try? registry.bundle(bundle)).map { $0.manifest.access.watchedPaths != .none } ?? false
    }

    /// Returns the watched paths that the user lists for an extension. Reads files, which may
    /// block.
    func listedPlaces(of bundle: String) -> [String] {
        (try? registry.bundle(bundle)).map { WatchedPlaces(of: $0, configuration.workers).listed } ?? []
    }

    /// Returns the paths at which no file can be reached. Blocks.
    static func missing(_ paths: [String]) -> Set<String> { Set(paths.filter { access($0, F_OK) != 0 }) }

    private static func awayPlaces(
        of bundle: String, _ snapshot: FileSnapshot
    ) throws(FileWatchingError) -> Set<String> {
        var away: Set<String> = []
        for tree in try snapshot.trees() where tree.rule.owner == bundle {
            away.formUnion(try Self.awayPlaces(of: tree, snapshot))
        }
        return away
    }

    private static func awayPlaces(
        of tree: StoredTree, _ snapshot: FileSnapshot
    ) throws(FileWatchingError) -> [String] {
        let report = try snapshot.compare(tree)
        // If not all paths are known, any file of the tree may be in one of them.
        return report.hasMoreUnavailable ? [tree.rule.root] : report.unavailable
    }

    /// Compares the files again at the end of a reindex. A file that appeared during the reindex is
    /// recorded, so that its deletion is detected. A path that is missing now may also have been
    /// missing when the extension read it.
    func endReindexOfFiles(_ bundle: String, _ before: FilesInReindex) async -> FilesInReindex {
        guard let files, before.request != nil else { return before }
        let listed = listedPlaces(of: bundle)
        var now = before
        do throws(EngineError) {
            let (away, missing) = try await files.compare { (snapshot) throws(FileWatchingError) in
                (try Self.awayPlaces(of: bundle, snapshot), Self.missing(listed))
            }
            now.away.formUnion(away)
            now.missing.formUnion(missing)
        } catch { now.isUnknown = true }
        return now
    }

    /// Records that a reindex of everything is complete.
    func noteReindex(of bundle: String, _ reindex: FilesInReindex) async throws(EngineError) {
        let now = configuration.now()
        outlook.withLock { $0.reindexedForFiles[bundle] = now }
        guard let files, let request = reindex.request else { return }
        try await files.use { (snapshot) throws(FileWatchingError) in try snapshot.acknowledge(request) }
        try await oweGone(bundle, files, reindex)
        _ = try await takeFileNews()
    }

    /// The maximum number of items that get a pending reindex because their files disappeared
    /// during a reindex.
    private static let maximumGone = 500

    /// Adds a pending reindex for items whose files appeared and disappeared during the reindex,
    /// since the watcher may have missed both changes.
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
                try await index.items(
                    matching: .and([]), bundle: bundle, attributes: ["contentURL"], limit: 1000, after: cursor)
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

    /// Returns the items without those whose files are in missing paths, since the extension would
    /// delete them.
    ///
    /// - Parameter index: The index with the items; `nil` for the index of items that are not
    ///   encrypted.
    func withoutAway(_ items: Set<String>, of bundle: String, in index: SearchIndex? = nil) async -> Set<String> {
        guard let files, followsFiles(of: bundle) else { return items }
        let searched = index ?? self.index
        var paths: [String: String] = [:]
        for item in items {
            let found = try? await searched.items(uniqueIdentifier: item, bundle: bundle)
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
