// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Dispatch
import Foundation
import UniformTypeIdentifiers

// A principal class for each kind of fault in Swift. A test's manifest names one of them.

/// Works correctly. The broken handlers override the methods that they break.
class WorkingHandler: CSIndexExtensionRequestHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        searchableIndex.indexSearchableItems([Self.item("one")]) { _ in acknowledgementHandler() }
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) {
        acknowledgementHandler()
    }

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        Data("data".utf8)
    }

    static func item(_ identifier: String) -> CSSearchableItem {
        let attributes = CSSearchableItemAttributeSet(contentType: .plainText)
        attributes.title = identifier
        attributes.providerDataTypeIdentifiers = ["public.utf8-plain-text", "public.html"]
        return CSSearchableItem(uniqueIdentifier: identifier, domainIdentifier: nil, attributeSet: attributes)
    }
}

struct Broken: Error {}

// MARK: Not broken

/// Makes typical Foundation queries about a file, for which Foundation looks up the file owner's
/// name.
class AsksAboutFiles: WorkingHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        let file = URL(fileURLWithPath: NSTemporaryDirectory() + "/own file.txt")
        do {
            try Data("x".utf8).write(to: file)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let values = try file.resourceValues(forKeys: [
                .fileSizeKey, .contentModificationDateKey, .creationDateKey, .isRegularFileKey, .isHiddenKey, .nameKey,
                .isReadableKey,
            ])
            guard attributes[.ownerAccountName] != nil, values.fileSize == 1 else { throw Broken() }
            super.searchableIndex(
                searchableIndex, reindexAllSearchableItemsWithAcknowledgementHandler: acknowledgementHandler)
        } catch {
            fatalError("\(error)")
        }
    }
}

/// Provides the encrypted item “a” with its class as the title, and deletes other items.
class ProvidesEncryptedItems: WorkingHandler {
    override func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType,
        searchableItemsHandler: @escaping ([CSSearchableItem]) -> Void
    ) {
        let item = Self.item("a")
        item.attributeSet.title = "provided \(protectionClass.rawValue)"
        searchableItemsHandler(identifiers.contains("a") ? [item] : [])
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) {
        searchableIndex.deleteSearchableItems(withIdentifiers: identifiers) { _ in acknowledgementHandler() }
    }
}

// MARK: While it is made

class FatalErrorInInit: WorkingHandler {
    override init() { fatalError("no way to be made") }
}

class HangsInInit: WorkingHandler {
    override init() {
        super.init()
        DispatchSemaphore(value: 0).wait()
    }
}

class NotAHandler: NSObject {}

class NotAnObject {}

class PreviewProviderOnly: QLPreviewProvider {}

// MARK: When it is asked

class ForcesNil: WorkingHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        let nobody: [String: Int] = [:]
        print(nobody["nobody"]!)
    }
}

class IndexesOutOfRange: WorkingHandler {
    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        Data([Array(itemIdentifier.utf8)[1_000_000]])
    }
}

class Recurses: WorkingHandler {
    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        try data(for: searchableIndex, itemIdentifier: itemIdentifier + ".", typeIdentifier: typeIdentifier) + Data([1])
    }
}

class ThrowsAlways: WorkingHandler {
    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        throw Broken()
    }
    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        throw CocoaError(.fileNoSuchFile)
    }
}

class NeverAcknowledges: WorkingHandler {
    nonisolated(unsafe) static var kept: [() -> Void] = []

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        Self.kept.append(acknowledgementHandler)
    }
}

class LetsGoOfTheHandler: WorkingHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {}
}

class AcknowledgesOften: WorkingHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        let handler = UncheckedHandler(call: acknowledgementHandler)
        searchableIndex.indexSearchableItems([Self.item("one")]) { _ in
            DispatchQueue.concurrentPerform(iterations: 50) { _ in handler.call() }
        }
    }
}

/// Source from before Swift 6 passes its handlers to arbitrary code.
struct UncheckedHandler: @unchecked Sendable { let call: () -> Void }

class AsyncThatNeverReturns: WorkingHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        let handler = UncheckedHandler(call: acknowledgementHandler)
        Task {
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            handler.call()
        }
    }
}

/// Blocks all threads of the concurrency runtime, so that no other task can run.
class BlocksAllTasks: WorkingHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        for _ in 0..<64 { Task { Self.block() } }
        super.searchableIndex(
            searchableIndex, reindexAllSearchableItemsWithAcknowledgementHandler: acknowledgementHandler)
    }
    private static func block() { DispatchSemaphore(value: 0).wait() }
}

// MARK: The main queue

class BlocksTheMainQueue: WorkingHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        DispatchQueue.main.async { DispatchSemaphore(value: 0).wait() }
        DispatchQueue.main.sync {}
        acknowledgementHandler()
    }
}

/// Not broken: many real handlers switch to the main queue and wait for it.
class WaitsForTheMainQueue: WorkingHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        DispatchQueue.main.sync {
            super.searchableIndex(
                searchableIndex, reindexAllSearchableItemsWithAcknowledgementHandler: acknowledgementHandler)
        }
    }
}

class EndsFromTheMainQueue: WorkingHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        let handler = UncheckedHandler(call: acknowledgementHandler)
        DispatchQueue.main.async {
            exit(5)
            handler.call()
        }
    }
}

// MARK: Promises and previews

class EmptyAnswers: WorkingHandler {
    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        Data()
    }
    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        // An empty file URL, as in Apple's own template.
        URL(string: "file://")!
    }
}

class PreviewThatThrows: QLPreviewProvider, QLPreviewingController {
    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply { throw Broken() }
}

class PreviewThatNeverReturns: QLPreviewProvider, QLPreviewingController {
    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        throw Broken()
    }
}
