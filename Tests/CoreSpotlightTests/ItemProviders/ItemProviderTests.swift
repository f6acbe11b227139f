// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import CoreSpotlight

/// Awaits the arguments of a loading handler.
func loaded<Value: Sendable>(
    _ load: (@escaping @Sendable (Value?, (any Error)?) -> Void) -> Progress
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        _ = load { value, error in
            if let value { continuation.resume(returning: value) } else { continuation.resume(throwing: error!) }
        }
    }
}

/// Hides the static type of the value from the compiler, so that a cast that looks impossible is
/// made at run time.
func plain(_ value: (any NSSecureCoding)?) -> Any? { value }

@Suite("Item provider")
struct ItemProviderTests {
    private func provider(_ types: [String]) -> NSItemProvider {
        let provider = NSItemProvider()
        for type in types {
            provider.registerDataRepresentation(forTypeIdentifier: type, visibility: .all) { completion in
                completion(Data(type.utf8), nil)
                return nil
            }
        }
        return provider
    }

    private func text(_ provider: NSItemProvider, _ type: UTType) async throws -> String {
        String(
            decoding: try await loaded { provider.loadDataRepresentation(for: type, completionHandler: $0) },
            as: UTF8.self)
    }

    private func code(_ error: any Error) -> NSItemProvider.ErrorCode? {
        let error = error as NSError
        return error.domain == NSItemProvider.errorDomain ? .init(rawValue: error.code) : nil
    }

    // MARK: Types

    @Test func typesAreInTheOrderOfRegistration() {
        let provider = provider(["public.html", "public.utf8-plain-text", "public.html"])
        #expect(provider.registeredTypeIdentifiers == ["public.html", "public.utf8-plain-text"])
        #expect(provider.registeredContentTypes == [.html, .utf8PlainText])
        #expect(provider.registeredContentTypes(conformingTo: .plainText) == [.utf8PlainText])
        #expect(provider.registeredContentTypesForOpenInPlace.isEmpty)
    }

    @Test func conformanceDecidesNotEquality() {
        let provider = provider(["public.png", "com.example.no-type"])
        #expect(provider.hasItemConformingToTypeIdentifier("public.image"))
        #expect(provider.hasItemConformingToTypeIdentifier("com.example.No-Type"))
        #expect(!provider.hasItemConformingToTypeIdentifier("public.jpeg"))
        #expect(!provider.hasRepresentationConforming(toTypeIdentifier: "public.image", fileOptions: .openInPlace))
    }

    @Test func theFirstRepresentationThatConformsIsLoaded() async throws {
        let provider = provider(["public.html", "public.utf8-plain-text"])
        let any = try await text(provider, .text)
        let plain = try await text(provider, .plainText)
        #expect(any == "public.html" && plain == "public.utf8-plain-text")
    }

    @Test func whatIsNotThereIsAnError() async {
        let provider = provider(["public.html"])
        await #expect { try await text(provider, .image) } throws: { code($0) == .itemUnavailableError }
        await #expect { try await provider.loadItem(forTypeIdentifier: "public.image") } throws: {
            code($0) == .itemUnavailableError
        }
    }

    @Test func theFirstOfATypeCountsAndCopiesShareAll() async throws {
        let provider = provider(["public.html"])
        provider.registerDataRepresentation(for: .html) { completion in
            completion(Data("second".utf8), nil)
            return nil
        }
        provider.suggestedName = "name"
        let copy = try #require(provider.copy() as? NSItemProvider)
        let found = try await text(copy, .html)
        #expect(found == "public.html" && copy.suggestedName == "name")
    }

    // MARK: Progress

    @Test func cancellingEndsTheLoadingAndTellsTheLoader() async {
        let underlying = Progress(totalUnitCount: 10)
        let provider = NSItemProvider()
        let (began, continuation) = AsyncStream<Void>.makeStream()
        let kept = Mutex<[@Sendable (Data?, (any Error)?) -> Void]>([])
        provider.registerDataRepresentation(for: .data) { completion in
            kept.withLock { $0.append(completion) }
            continuation.yield()
            return underlying
        }
        let outcome = AsyncStream<(any Error)?>.makeStream()
        let progress = provider.loadDataRepresentation(for: .data) { _, error in outcome.continuation.yield(error) }
        for await _ in began { break }
        progress.cancel()
        for await error in outcome.stream {
            #expect((error as? CocoaError)?.code == .userCancelled)
            break
        }
        #expect(progress.isCancelled && kept.withLock { $0.count } == 1)
    }

    @Test func aLoaderThatAnswersTwiceIsHeardOnce() async throws {
        let provider = NSItemProvider()
        let count = Mutex(0)
        provider.registerDataRepresentation(for: .data) { completion in
            completion(Data([1]), nil)
            completion(Data([2]), nil)
            return nil
        }
        let data: Data = try await loaded { handler in
            provider.loadDataRepresentation(for: .data) { data, error in
                count.withLock { $0 += 1 }
                handler(data, error)
            }
        }
        #expect(data == Data([1]))
        #expect(count.withLock { $0 } == 1)
    }

    @Test func aLoaderThatNeverAnswersIsAnError() async {
        let provider = NSItemProvider()
        provider.registerDataRepresentation(for: .data) { _ in nil }
        await #expect { try await text(provider, .data) } throws: { code($0) == .itemUnavailableError }
        provider.registerDataRepresentation(for: .png) { completion in
            completion(nil, nil)
            return nil
        }
        await #expect { try await text(provider, .png) } throws: { code($0) == .itemUnavailableError }
    }

    @Test func errorsOfTheLoaderAreHandedOn() async {
        let provider = NSItemProvider()
        provider.registerDataRepresentation(for: .data) { completion in
            completion(nil, CocoaError(.fileNoSuchFile))
            return nil
        }
        await #expect { try await text(provider, .data) } throws: { ($0 as? CocoaError)?.code == .fileNoSuchFile }
    }

    // MARK: Objects

    @Test func textsAndAddressesAreProvidedAndReadBack() async throws {
        let texts = NSItemProvider(object: "grüezi" as NSString)
        #expect(texts.registeredTypeIdentifiers == ["public.utf8-plain-text"])
        #expect(texts.canLoadObject(ofClass: NSString.self) && texts.canLoadObject(ofClass: String.self))
        #expect(!texts.canLoadObject(ofClass: NSURL.self))
        let text: String = try await loaded { texts.loadObject(ofClass: String.self, completionHandler: $0) }
        #expect(text == "grüezi")
        let web = NSItemProvider(object: NSURL(string: "https://example.com/a%20b")!)
        #expect(web.registeredTypeIdentifiers == ["public.url"])
        let url: URL = try await loaded { web.loadObject(ofClass: URL.self, completionHandler: $0) }
        #expect(url.absoluteString == "https://example.com/a%20b")
        let file = NSItemProvider(object: NSURL(fileURLWithPath: "/tmp/x"))
        #expect(file.registeredTypeIdentifiers == ["public.file-url", "public.url"])
    }

    @Test func anObjectIsMadeWhenItIsWanted() async throws {
        let provider = NSItemProvider()
        provider.registerObject(ofClass: String.self, visibility: .all) { completion in
            completion("late", nil)
            return nil
        }
        let isLate: Bool = try await loaded { handler in
            provider.loadObject(ofClass: NSString.self) { object, error in
                handler((object as? NSString)?.isEqual(to: "late"), error)
            }
        }
        #expect(isLate)
    }

    @Test func dataThatIsNoTextIsAnError() async {
        let provider = NSItemProvider()
        provider.registerDataRepresentation(for: .utf8PlainText) { completion in
            completion(Data([0xFF, 0xFE, 0xFF]), nil)
            return nil
        }
        await #expect {
            let _: String = try await loaded { provider.loadObject(ofClass: String.self, completionHandler: $0) }
        } throws: { code($0) == .unavailableCoercionError }
    }

    // MARK: Items

    @Test func itemsAreLoadedAsTheyAreAndCoercedToData() async throws {
        let text = NSItemProvider(item: "hi" as NSString, typeIdentifier: "public.text")
        let item = try await text.loadItem(forTypeIdentifier: "public.text")
        #expect(plain(item) as? String == "hi")
        let data = try await self.text(text, .text)
        #expect(data == "hi")
        let link = NSItemProvider(item: NSURL(string: "https://example.com")!, typeIdentifier: "public.url")
        let address = try await link.loadItem(forTypeIdentifier: "public.url")
        #expect(plain(address) as? URL == URL(string: "https://example.com"))
        let dictionary = NSItemProvider(item: NSDictionary(), typeIdentifier: "com.apple.property-list")
        await #expect { try await self.text(dictionary, .propertyList) } throws: {
            code($0) == .unavailableCoercionError
        }
        #expect(NSItemProvider(item: nil, typeIdentifier: "public.text").registeredTypeIdentifiers.isEmpty)
    }

    @Test func dataIsLoadedAsAnItem() async throws {
        let item = try await provider(["public.html"]).loadItem(forTypeIdentifier: "public.html")
        #expect(plain(item) as? Data == Data("public.html".utf8))
    }

    @Test func aPreviewImageIsMadeByItsHandler() async throws {
        let provider = NSItemProvider()
        await #expect(throws: NSError.self) { try await provider.loadPreviewImage() }
        provider.previewImageHandler = { completion, _, _ in completion?(NSData(data: Data([9])), nil) }
        let image = try await provider.loadPreviewImage(options: nil)
        #expect(plain(image) as? Data == Data([9]))
    }
}
