// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Foundation
import PortedSources
import UniformTypeIdentifiers

/// An app that uses only the public library. Its argument selects the action, and its output
/// contains the result.
@main
struct TestApp {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "donate": try await donate(count: Int(arguments[1]) ?? 0)
            case "query": try await query(arguments[1])
            case "available": print(CSSearchableIndex.isIndexingAvailable())
            case "talk": try await talk()
            case "serve": try await serve()
            case "continue": try await takeActivities(arguments[1])
            case "fetch": try await fetch(arguments[1], arguments[2])
            default: print("unknown")
            }
        } catch {
            print("error \((error as NSError).domain) \((error as NSError).code): \(error.localizedDescription)")
        }
    }

    private static func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    private static func item(_ identifier: String) -> CSSearchableItem {
        let attributes = CSSearchableItemAttributeSet(contentType: .plainText)
        attributes.title = identifier
        attributes.providerDataTypeIdentifiers = ["public.utf8-plain-text"]
        attributes.providerFileTypeIdentifiers = ["public.plain-text"]
        return CSSearchableItem(uniqueIdentifier: identifier, domainIdentifier: nil, attributeSet: attributes)
    }

    /// Donates batches with one item each. Each batch expects the client state of its predecessor.
    private static func donate(count: Int) async throws {
        let index = CSSearchableIndex(name: "notes")
        var state: Data?
        for number in 0..<count {
            index.beginBatch()
            try await index.indexSearchableItems([item("item \(number)")])
            let next = Data("\(number)".utf8)
            try await index.endIndexBatch(expectedClientState: state, newClientState: next)
            state = next
            say("acknowledged \(number)")
        }
        let last = try await index.fetchLastClientState()
        say("state \(String(decoding: last, as: UTF8.self))")
    }

    private static func query(_ text: String) async throws {
        let query = CSSearchQuery(queryString: text, attributes: ["title"])
        var count = 0
        for try await result in query.results where result.item.attributeSet.title != nil { count += 1 }
        say("found \(count)")
    }

    /// The sample from a WWDC talk: a journal that is donated in a batch, changed, and searched.
    private static func talk() async throws {
        let donor = JournalDonor()
        let entries = [
            ("1", "Ski trip", "Snow in the hills"), ("2", "Skiing lesson", "The blue slope"), ("3", "Summer", "At sea"),
        ]
        try await donor.donate(entries.map { (identifier: $0, title: $1, text: $2) }, upTo: Data("3 entries".utf8))
        try await donor.rename("3", to: "Sky")
        let search = JournalSearch()
        search.appear()
        // A donation can be found within a second.
        for _ in 0..<1000 {
            try await search.search("sky")
            if !search.items.isEmpty { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        try await search.search("ski")
        let found = search.items.compactMap(\.item.attributeSet.title).sorted()
        let suggested = search.suggestions.map { String($0.suggestion.localizedAttributedSuggestion.characters) }
        try await search.search("sea")
        let changed = search.items.compactMap(\.item.attributeSet.title)
        try await search.search("ski", imagesOnly: true)
        let state = String(decoding: try await donor.index.fetchLastClientState(), as: UTF8.self)
        say("\(found) \(suggested.sorted()) \(changed) \(search.items.count) \(state)")
    }

    private static func serve() async throws {
        let delegate = Delegate()
        CSSearchableIndex.default().indexDelegate = delegate
        try await CSSearchableIndex.default().indexSearchableItems([item("promised")])
        say("serving")
        // Runs until the test closes standard input.
        while readLine() != nil {}
        withExtendedLifetime(delegate) {}
    }

    /// Fetches the number of activities in SEARCHLIGHT_KEEP, 1 by default, and records each as a
    /// line in a file.
    private static func takeActivities(_ log: String) async throws {
        let (activities, continuation) = AsyncStream.makeStream(of: Void.self)
        let note = { @Sendable (line: String) in
            if !FileManager.default.fileExists(atPath: log) {
                _ = FileManager.default.createFile(atPath: log, contents: nil)
            }
            guard let file = FileHandle(forWritingAtPath: log) else { return }
            file.seekToEndOfFile()
            file.write(Data((line + "\n").utf8))
            continuation.yield()
        }
        NSUserActivity.onContinueUserActivity(CSQueryContinuationActionType) { activity in
            let text = activity.userInfo?[CSSearchQueryString] as? String
            note("\(activity.activityType) \(CSSearchQueryString) \(text ?? "?")")
        }
        NSUserActivity.setContinuationHandler { activity, _ in
            let key = CSSearchableItemActivityIdentifier
            let identifier = activity.userInfo?[key] as? String
            note("\(activity.activityType) \(key) \(identifier ?? activity.title ?? "?")")
            return true
        }
        var rest = Int(ProcessInfo.processInfo.environment["SEARCHLIGHT_KEEP"] ?? "") ?? 1
        for await _ in activities {
            rest -= 1
            if rest == 0 { break }
        }
        // The answer to the service is still being sent.
        try await Task.sleep(for: .milliseconds(200))
    }

    private static func fetch(_ bundle: String, _ item: String) async throws {
        let data = try await CSSearchableIndex.default().fetchData(
            forBundleIdentifier: bundle, itemIdentifier: item, contentType: .utf8PlainText)
        say("fetched \(data.count) bytes: \(String(decoding: data.prefix(40), as: UTF8.self))")
    }

    private final class Delegate: NSObject, CSSearchableIndexDelegate {
        func searchableIndex(
            _ searchableIndex: CSSearchableIndex,
            reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
        ) { acknowledgementHandler() }

        func searchableIndex(
            _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
            acknowledgementHandler: @escaping () -> Void
        ) { acknowledgementHandler() }

        func data(
            for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
        ) throws -> Data { Data("\(itemIdentifier) as \(typeIdentifier)".utf8) + Data(count: 100_000) }
    }
}
