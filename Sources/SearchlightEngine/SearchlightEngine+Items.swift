// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExtensionHost
import Glibc
import IdleScheduling
import ItemRecord
import Previews
import Promises
import SearchIndex
import ServiceMessages
import Synchronization
import UniformTypeIdentifiers

extension SearchlightEngine {
    /// Returns completions for a text that the user is typing; see ``SearchIndex/suggestions(_:)``.
    package func suggestions(_ request: SuggestionRequest) async throws(EngineError) -> [Suggestion] {
        let vault = vault
        return try await onQuery { (index) throws(IndexQueryError) in
            var all = try await index.suggestions(request)
            guard all.count < request.limit else { return all }
            let protected = try await vault.whileUnlocked { (protected) async throws(IndexQueryError) in
                try await protected.suggestions(request)
            }
            for suggestion in protected ?? []
            where !all.contains(where: { $0.text == suggestion.text }) {
                all.append(suggestion)
            }
            return Array(all.prefix(request.limit))
        }
    }

    /// Finds items with the requested attributes; see ``SearchIndex/search(_:)``.
    ///
    /// - Parameter readsProtected: `false` leaves out items of protected indexes.
    package func search(
        _ request: SearchRequest, readsProtected: Bool = true
    ) async throws(EngineError) -> SearchPage {
        let request = await withMeaning(request)
        let vault = vault
        return try await onQuery { (index) throws(IndexQueryError) in
            guard readsProtected else { return try await index.search(request) }
            let both = try await vault.whileUnlocked { (protected) async throws(IndexQueryError) in
                try await index.search(request, with: protected)
            }
            if let both { return both }
            return try await index.search(request)
        }
    }

    /// Returns the item with a name; see ``EngineClient/items(named:bundle:index:)``.
    package func item(
        named name: String, bundle: String? = nil, index indexName: String? = nil
    ) async throws(EngineError) -> StoredItem {
        func isMeant(_ scope: IndexScope) -> Bool {
            (bundle ?? scope.bundle) == scope.bundle && (indexName ?? scope.index) == scope.index
        }
        var all: [StoredItem] = []
        if name.hasPrefix("@"), let number = Int64(name.dropFirst()) {
            let found = try await onIndex(having: number) { (index) throws(SearchIndexError) in
                try await index.item(number: number)
            }
            if let found, isMeant(found.scope) { return found }
            all += found.map { [$0] } ?? []
        }
        // Other bundles are searched only if this one has no such item, to name them in the error.
        for candidates in bundle == nil ? [nil] : [bundle, nil] {
            for index in readable {
                all += try await Self.onIndex(index) { (index) throws(SearchIndexError) in
                    try await index.items(uniqueIdentifier: name, bundle: candidates)
                }
            }
            let found = all.filter { isMeant($0.scope) }
            if found.count > 1 { throw .ambiguousItem(name, candidates: found) }
            if let first = found.first { return first }
        }
        guard !all.isEmpty, bundle != nil || indexName != nil else { throw .itemNotFound(name) }
        let places = Set(all.map(\.scope.phrase)).sorted().prefix(Self.maximumPlacesNamed)
        let place = bundle.map { IndexScope(bundle: $0, index: indexName).phrase } ?? "An index “\(indexName ?? "")”"
        throw .itemElsewhere(name, place: place, places: Array(places))
    }

    /// Returns the applied item with a number, without waiting for donations.
    package func item(number: Int64) async throws(EngineError) -> StoredItem {
        let found = try await onIndex(having: number) { (index) throws(SearchIndexError) in
            try await index.appliedItem(number: number)
        }
        guard let found else { throw .itemNotFound("@\(number)") }
        return found
    }

    /// The maximum number of bundles and indexes named in
    /// ``EngineError/itemElsewhere(_:place:places:)``.
    private static var maximumPlacesNamed: Int { 5 }

    package func provide(
        _ promise: Representation, of item: StoredItem, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void = { _ in }
    ) async throws(EngineError) -> ProvidedContent {
        let bundle = item.scope.bundle
        let identifier = item.record.uniqueIdentifier
        let retries = Retries()
        let options = RequestOptions(
            mayRetry: mayRetry, onRetry: { retries.note() },
            onProgress: { onProgress(ProviderProgress(completed: $0, total: $1)) })
        let content = try await noticingAbsence(of: item) { (host) throws(ExtensionError) -> PromisedContent in
            switch promise.form {
            case .data: .data(try await host.data(item: identifier, type: promise.type, bundle, options: options))
            case .file, .inPlaceFile:
                .file(
                    try await host.file(
                        item: identifier, type: promise.type, inPlace: promise.form == .inPlaceFile, bundle,
                        options: options))
            }
        }
        return ProvidedContent(content, wasRetried: retries.happened)
    }

    /// Sends a request about an item to an extension. If the request fails and the item seems to
    /// have been deleted, a reindex of the item becomes pending. The extension then donates it
    /// again or deletes it.
    func noticingAbsence<Value: Sendable>(
        of item: StoredItem, _ ask: (ExtensionHost) async throws(ExtensionError) -> Value
    ) async throws(EngineError) -> Value {
        do throws(EngineError) { return try await onHost(ask) } catch {
            // The job list is not encrypted, so identifiers of protected items are not added to it.
            guard case .extension(.failed(_, _, let status, _)) = error, configuration.access == .readWrite,
                index.mayHave(number: item.number)
            else {
                throw error
            }
            if status != .notFound {
                guard let path = item.record.contentPath, await Self.isMissing(path) else { throw error }
            }
            let job = Job(
                bundle: item.scope.bundle, work: .reindexItems([item.record.uniqueIdentifier]),
                requested: configuration.now(), cause: .foundGone)
            // If the job queue is full, the item is kept. The error still reports that it no longer
            // exists.
            try? jobStore.update { $0.add(job) }
            throw error
        }
    }

    /// Returns `true` if no file exists at a path. If the file system does not respond within a
    /// second, the result is `false`.
    private static func isMissing(_ path: String) async -> Bool {
        await withCheckedContinuation { continuation in
            let answer = FirstOfTwo(continuation)
            let queue = DispatchQueue.global(qos: .userInitiated)
            queue.async {
                answer.give(FollowedFiles.isMissing(path))
            }
            queue.asyncAfter(deadline: .now() + .seconds(1)) { answer.give(false) }
        }
    }

    /// Returns an item's data in a type, from its app or its extension.
    ///
    /// - Parameters:
    ///   - identifier: The item's unique identifier.
    ///   - type: A uniform type identifier that the item promises.
    ///   - bundle: The item's bundle.
    /// - Throws: ``EngineError``. A returned stream may still end early, if the process that writes
    ///   it exits.
    package func data(of identifier: String, as type: String, bundle: String) async throws(EngineError) -> Payload {
        try await onHost { (host) throws(ExtensionError) in
            try await host.data(item: identifier, type: type, bundle)
        }
    }
}

extension IndexScope {
    /// The bundle, and the name of its index in parentheses.
    var phrase: String { bundle + (index.map { " (\($0))" } ?? "") }
}

/// Resumes a continuation with the first of two answers.
private final class FirstOfTwo: Sendable {
    private let continuation: Mutex<CheckedContinuation<Bool, Never>?>

    init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = Mutex(continuation) }

    func give(_ answer: Bool) {
        let first = continuation.withLock { $0.take() }
        first?.resume(returning: answer)
    }
}

/// Records whether a request was retried.
private final class Retries: Sendable {
    private let noted = Atomic(false)
    func note() { noted.store(true, ordering: .relaxed) }
    var happened: Bool { noted.load(ordering: .relaxed) }
}
