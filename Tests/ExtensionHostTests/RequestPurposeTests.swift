// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import ServiceMessages
import Testing

@testable import ExtensionHost

@Suite("The purpose of a request")
struct RequestPurposeTests {
    /// The text that a purpose must not contain.
    private static let name = "canary"
    private static let requests: [WorkerRequest] = [
        .reindexItems([name]), .reindexUnlocked(lockedIndexes: [name]),
        .reindexEncrypted(EncryptedItems(index: name, protection: .complete, identifiers: [name])),
        .updateFiles([.changed(path: name), .moved(from: name, to: name), .removed(path: name)]),
        .provideData(item: name, type: "public.html"), .provideFile(item: name, type: "public.html", inPlace: true),
        .preview(item: name, query: name, contentPath: name),
        .reindexPage(ReindexPage(cursor: Array(name.utf8), items: 1, milliseconds: 1, memoryLimit: 1)),
    ]

    @Test("names no item, since it is recorded", arguments: requests)
    func names(request: WorkerRequest) { #expect(!request.purpose.contains(Self.name)) }
}
