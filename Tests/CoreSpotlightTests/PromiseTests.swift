// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CoreSpotlight

/// A service that knows one item.
private struct OnePromise: PromiseTransport {
    func fetchData(bundle: String, item: String, type: String) async throws(CSIndexError) -> Data {
        guard item == "7" else { throw CSIndexError(.invalidItemError, "\(bundle) has no item \(item).") }
        return Data("\(bundle) \(item) \(type)".utf8)
    }
}

@Suite("Promises of other apps")
struct PromiseTests {
    private func served<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await ProcessTransports.$replacement.withValue(.init(promises: OnePromise()), operation: body)
    }

    @Test func dataIsFetchedByTypeAndByIdentifier() async throws {
        let index = CSSearchableIndex(name: "n")
        let data = try await served {
            try await index.fetchData(forBundleIdentifier: "com.example", itemIdentifier: "7", contentType: .png)
        }
        #expect(data == Data("com.example 7 public.png".utf8))
        let same = try await served {
            try await index.provideData(forBundle: "com.example", identifier: "7", type: "public.png")
        }
        #expect(same == data)
    }

    @Test func theHandlerIsGivenDataOrTheError() async {
        let index = CSSearchableIndex(name: "n")
        let code: CSIndexError.Code? = await served {
            await withCheckedContinuation { continuation in
                index.fetchData(forBundleIdentifier: "com.example", itemIdentifier: "8", contentType: .png) {
                    data, error in
                    continuation.resume(returning: data == nil ? (error as? CSIndexError)?.code : nil)
                }
            }
        }
        #expect(code == .invalidItemError)
        let count: Int? = await served {
            await withCheckedContinuation { continuation in
                index.provideData(forBundle: "com.example", identifier: "7", type: "t") { data, error in
                    continuation.resume(returning: error == nil ? data?.count : nil)
                }
            }
        }
        #expect(count == "com.example 7 t".count)
    }

    @Test func withoutAServiceThereIsNothingToFetch() async {
        await #expect(throws: CSIndexError.self) {
            try await CSSearchableIndex.default().provideData(forBundle: "com.example", identifier: "7", type: "t")
        }
    }
}

@Suite("Protection classes")
struct ProtectionClassTests {
    /// Supplies items only if no class is named.
    private final class Supplier: NSObject, CSSearchableIndexDelegate {
        func searchableIndex(
            _ searchableIndex: CSSearchableIndex,
            reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
        ) {}

        func searchableIndex(
            _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
            acknowledgementHandler: @escaping () -> Void
        ) {}

        func searchableItems(
            forIdentifiers identifiers: [String], searchableItemsHandler: @escaping ([CSSearchableItem]) -> Void
        ) {
            searchableItemsHandler(
                identifiers.map {
                    CSSearchableItem(
                        uniqueIdentifier: $0, domainIdentifier: nil, attributeSet: CSSearchableItemAttributeSet())
                })
        }
    }

    @Test func itemsOfAClassAreThoseWithoutOneUnlessWritten() async {
        let supplied = await Supplier().searchableItems(forIdentifiers: ["a", "b"], protectionClass: .complete)
        #expect(supplied.map(\.uniqueIdentifier) == ["a", "b"])
        let none = await CSIndexExtensionRequestHandler().searchableItems(
            forIdentifiers: ["a"], protectionClass: .complete)
        #expect(none.isEmpty)
    }

    @Test func anIndexKeepsItsClass() {
        #expect(CSSearchableIndex(name: "n", protectionClass: .complete).protectionClass == .complete)
        for index in [CSSearchableIndex(name: "n"), CSSearchableIndex(name: "n", protectionClass: nil), .default()] {
            #expect(index.protectionClass == .completeUntilFirstUserAuthentication)
        }
    }

    @Test(arguments: [nil, FileProtectionType.complete])
    func descriptionsAreArchived(protectionClass: FileProtectionType?) throws {
        let description = CSSearchableIndexDescription(protectionClass: protectionClass)
        let data = try NSKeyedArchiver.archivedData(withRootObject: description, requiringSecureCoding: true)
        let restored = try NSKeyedUnarchiver.unarchivedObject(ofClass: CSSearchableIndexDescription.self, from: data)
        #expect(restored?.protectionClass?.rawValue == protectionClass?.rawValue && restored != nil)
    }
}

@Suite("Thumbnails")
struct ThumbnailTests {
    @Test func aProviderThatMakesNoneSaysSo() async {
        let request = QLFileThumbnailRequest(
            fileURL: URL(fileURLWithPath: "/tmp/x"), minimumSize: .zero, maximumSize: CGSize(width: 9, height: 9),
            scale: 2)
        let error: (any Error)? = await withCheckedContinuation { continuation in
            QLThumbnailProvider().provideThumbnail(for: request) { _, error in
                continuation.resume(returning: error)
            }
        }
        #expect(error is UnservedRequest)
    }
}
