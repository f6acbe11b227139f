// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import CoreSpotlight
@testable import UniformTypeIdentifiers

@Suite("Item provider: files")
struct ItemProviderFileTests {
    /// The values that a handler observed for a file, and whether the file still exists afterwards.
    private struct Seen: Sendable {
        var url: URL
        var isOriginal = false
        var content = ""
        var mode = 0
    }

    private func look(_ url: URL, _ isOriginal: Bool) -> Seen {
        let folder = url.deletingLastPathComponent().path
        let mode = try? FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? NSNumber
        return Seen(
            url: url, isOriginal: isOriginal, content: (try? String(contentsOf: url, encoding: .utf8)) ?? "",
            mode: mode?.intValue ?? 0)
    }

    private func seen(
        _ load: (@escaping @Sendable (URL?, Bool, (any Error)?) -> Void) -> Progress
    ) async throws -> Seen {
        try await loaded { handler in
            load { url, isOriginal, error in handler(url.map { look($0, isOriginal) }, error) }
        }
    }

    private func isGone(_ url: URL) async -> Bool {
        while FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path) { await Task.yield() }
        return true
    }

    private func file(_ name: String, in folder: TemporaryFolder, _ text: String = "content") throws -> URL {
        let url = URL(fileURLWithPath: folder.path(name))
        try Data(text.utf8).write(to: url)
        return url
    }

    @Test(.timeLimit(.minutes(10)))
    func aCopyIsDeletedWhenTheHandlerReturns() async throws {
        let folder = try TemporaryFolder()
        let original = try file("a.txt", in: folder)
        let provider = NSItemProvider(contentsOf: original, contentType: nil)
        #expect(provider.registeredTypeIdentifiers == ["public.plain-text"] && provider.suggestedName == "a.txt")
        let seen = try await seen { handler in
            provider.loadFileRepresentation(forTypeIdentifier: "public.text") { handler($0, false, $1) }
        }
        #expect(seen.content == "content" && seen.url != original && seen.url.lastPathComponent == "a.txt")
        #expect(seen.mode == 0o700)
        let gone = await isGone(seen.url)
        #expect(gone && FileManager.default.fileExists(atPath: original.path))
    }

    @Test(.timeLimit(.minutes(10)))
    func dataIsWrittenToAFileWithTheSuggestedName() async throws {
        let provider = NSItemProvider()
        provider.suggestedName = "../../Report"
        provider.registerDataRepresentation(for: .pdf) { completion in
            completion(Data("pdf".utf8), nil)
            return nil
        }
        let seen = try await seen { provider.loadFileRepresentation(for: .pdf, completionHandler: $0) }
        #expect(seen.url.lastPathComponent == "Report.pdf" && seen.content == "pdf" && !seen.isOriginal)
        let gone = await isGone(seen.url)
        #expect(gone)
    }

    @Test func theOriginalIsOpenedWhereThatIsWantedAndOffered() async throws {
        let folder = try TemporaryFolder()
        let original = try file("a.txt", in: folder)
        let offered = NSItemProvider(contentsOf: original, contentType: .plainText, openInPlace: true)
        #expect(offered.registeredContentTypesForOpenInPlace == [.plainText])
        let inPlace = try await seen {
            offered.loadInPlaceFileRepresentation(forTypeIdentifier: "public.text", completionHandler: $0)
        }
        #expect(inPlace.isOriginal && inPlace.url.path == original.path)
        let copied = try await seen { offered.loadFileRepresentation(for: .plainText, completionHandler: $0) }
        #expect(!copied.isOriginal && copied.url.path != original.path)
        let kept = NSItemProvider(contentsOf: original, contentType: .plainText)
        let other = try await seen {
            kept.loadFileRepresentation(for: .plainText, openInPlace: true, completionHandler: $0)
        }
        #expect(!other.isOriginal && other.content == "content")
        #expect(FileManager.default.fileExists(atPath: original.path))
    }

    @Test func aFileIsReadAsDataAndAFolderIsNot() async throws {
        let folder = try TemporaryFolder()
        let provider = NSItemProvider(contentsOf: try file("a.txt", in: folder), contentType: nil)
        let data: Data = try await loaded {
            provider.loadDataRepresentation(for: .plainText, completionHandler: $0)
        }
        #expect(data == Data("content".utf8))
        let whole = NSItemProvider(contentsOf: URL(fileURLWithPath: folder.path), contentType: .folder)
        await #expect {
            let _: Data = try await loaded { whole.loadDataRepresentation(for: .folder, completionHandler: $0) }
        } throws: { ($0 as NSError).code == NSItemProvider.ErrorCode.unavailableCoercionError.rawValue }
        let name: String = try await loaded { handler in
            whole.loadFileRepresentation(for: .folder) { url, _, error in
                let names = url.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0.path) }
                handler(names?.joined(), error)
            }
        }
        #expect(name == "a.txt")
    }

    @Test func aFileThatIsGoneIsAnError() async throws {
        let folder = try TemporaryFolder()
        let provider = NSItemProvider(contentsOf: URL(fileURLWithPath: folder.path("none.txt")), contentType: nil)
        await #expect(throws: (any Error).self) {
            try await seen { provider.loadFileRepresentation(for: .plainText, completionHandler: $0) }
        }
    }

    @Test func onlyFilesMakeAProviderOfAFile() {
        #expect(NSItemProvider(contentsOf: URL(string: "https://example.com")!) == nil)
        let unknown = NSItemProvider(contentsOf: URL(fileURLWithPath: "/tmp/x.unheard-of-extension"))
        #expect(unknown?.hasItemConformingToTypeIdentifier("public.data") == true)
    }

    @Test func aFileAsAnItemStaysAsLongAsTheProvider() async throws {
        let folder = try TemporaryFolder()
        var provider: NSItemProvider? = NSItemProvider(contentsOf: try file("a.txt", in: folder), contentType: nil)
        let item = try await provider?.loadItem(forTypeIdentifier: "public.plain-text")
        let url = try #require(plain(item) as? URL)
        #expect(try String(contentsOf: url, encoding: .utf8) == "content")
        provider = nil
        let gone = await isGone(url)
        #expect(gone)
    }

    @Test(arguments: [
        ("a.txt", "public.plain-text", "a.txt"), ("a", "public.plain-text", "a.txt"),
        ("a.png", "public.plain-text", "a.png.txt"), ("..", "public.data", "item"), ("", "public.png", "item.png"),
        ("a/b\0c", "public.data", "bc"), ("v1.2", "com.example.none", "v1.2"),
    ])
    func namesAreThoseOfOneFile(name: String, type: String, expected: String) {
        #expect(TemporaryCopy.fileName(name, type) == expected)
    }

    @Test func namesAreCutToWhatAFileSystemTakes() {
        let name = TemporaryCopy.fileName(String(repeating: "ä", count: 300), "public.png")
        #expect(name.utf8.count <= 255 && name.hasSuffix(".png"))
    }

    // MARK: Items of the index

    private final class Promiser: NSObject, CSSearchableIndexDelegate {
        let file: URL

        init(file: URL) { self.file = file }

        func searchableIndex(
            _ searchableIndex: CSSearchableIndex,
            reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
        ) {}

        func searchableIndex(
            _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
            acknowledgementHandler: @escaping () -> Void
        ) {}

        func data(
            for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
        ) throws -> Data {
            itemIdentifier == "gone" ? Data() : Data("\(itemIdentifier) \(typeIdentifier)".utf8)
        }

        func fileURL(
            for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
        ) throws -> URL {
            itemIdentifier == "gone" ? URL(string: "file://")! : file
        }
    }

    private func dragged(_ identifier: String, _ folder: TemporaryFolder) throws -> NSItemProvider {
        let attributes = CSSearchableItemAttributeSet(contentType: .text)
        attributes.title = "Minutes"
        attributes.providerInPlaceFileTypeIdentifiers = ["public.text"]
        attributes.providerFileTypeIdentifiers = ["com.adobe.pdf"]
        attributes.providerDataTypeIdentifiers = ["public.html"]
        let item = CSSearchableItem(uniqueIdentifier: identifier, domainIdentifier: nil, attributeSet: attributes)
        return NSItemProvider(
            searchableItem: item, in: CSSearchableIndex(name: "n"),
            delegate: Promiser(file: try file("a.txt", in: folder)))
    }

    @Test func aDraggedItemIsMadeByTheDelegate() async throws {
        let folder = try TemporaryFolder()
        let provider = try dragged("7", folder)
        #expect(provider.registeredTypeIdentifiers == ["public.html", "com.adobe.pdf", "public.text"])
        #expect(provider.suggestedName == "Minutes")
        let data: Data = try await loaded { provider.loadDataRepresentation(for: .html, completionHandler: $0) }
        #expect(data == Data("7 public.html".utf8))
        let copy = try await seen { provider.loadFileRepresentation(for: .pdf, completionHandler: $0) }
        #expect(copy.content == "content" && copy.url.lastPathComponent == "Minutes.pdf")
        let original = try await seen {
            provider.loadInPlaceFileRepresentation(forTypeIdentifier: "public.text", completionHandler: $0)
        }
        #expect(original.isOriginal)
    }

    @Test(arguments: [UTType.html, .pdf])
    func whatTheAppHasNotIsAnError(type: UTType) async throws {
        let folder = try TemporaryFolder()
        let provider = try dragged("gone", folder)
        await #expect(throws: NSError.self) {
            let _: Data = try await loaded { provider.loadDataRepresentation(for: type, completionHandler: $0) }
        }
    }
}
