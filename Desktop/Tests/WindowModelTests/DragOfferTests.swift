// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Promises
import Testing

@testable import WindowModel

@Suite("The offer of a drag")
struct DragOfferTests {
    private func offer(
        data: [String] = [], files: [String] = [], originals: [String] = [], url: String? = nil
    ) -> DragOffer {
        func list(_ types: [String]) -> AttributeValue { .array(types.map { .string($0) }) }
        var attributes: [String: AttributeValue] = [
            "providerDataTypeIdentifiers": list(data), "providerFileTypeIdentifiers": list(files),
            "providerInPlaceFileTypeIdentifiers": list(originals),
        ]
        attributes["url"] = url.map { .url($0) }
        return DragOffer(ItemRecord(uniqueIdentifier: "a", attributes: attributes))
    }

    @Test("Promised data is offered by its media types, in the order of the app")
    func data() {
        #expect(
            offer(data: ["public.html", "public.utf8-plain-text"]).mediaTypes == [
                "text/html", "text/plain;charset=utf-8", "text/plain",
            ])
        #expect(
            offer(data: ["public.png"]).mediaTypes == ["image/png", "text/uri-list"] + MediaType.fileTransfers)
        #expect(offer().mediaTypes.isEmpty)
    }

    @Test("The winner of a media type is the resolver's, which prefers data to files")
    func winner() {
        let offer = offer(data: ["public.html"], files: ["public.html", "public.png"])
        guard case .content(let html)? = offer.answer(to: "text/html"),
            case .content(let picture)? = offer.answer(to: "image/png")
        else { return #expect(Bool(false), "\(offer)") }
        #expect(html.choice == Representation(type: "public.html", form: .data))
        // A promised file's bytes serve a receiver that does not accept files.
        #expect(picture.choice == Representation(type: "public.png", form: .file))
        #expect(offer.answer(to: "text/plain") == nil && offer.answer(to: "") == nil)
    }

    @Test("An original comes first as an address, and a promised file as the address of a copy")
    func addresses() {
        let original = offer(data: ["public.plain-text"], files: ["com.adobe.pdf"], originals: ["com.adobe.pdf"])
        #expect(original.mediaTypes.first == "text/uri-list")
        guard case .original(let resolution)? = original.answer(to: "text/uri-list") else {
            return #expect(Bool(false), "\(original)")
        }
        #expect(resolution.choice == Representation(type: "com.adobe.pdf", form: .inPlaceFile))
        guard case .copy(let copy)? = offer(files: ["com.adobe.pdf"]).answer(to: "text/uri-list") else {
            return #expect(Bool(false))
        }
        #expect(copy.choice == Representation(type: "com.adobe.pdf", form: .file))
    }

    @Test("The portal offers each file that has an address, but no folder and no web address")
    func portal() {
        let offers = [
            (offer(originals: ["com.adobe.pdf"]), true), (offer(files: ["com.adobe.pdf"]), true),
            (offer(data: ["public.png"]), true), (offer(originals: ["public.folder"]), false),
            (offer(data: ["public.png"], url: "https://example.org"), true), (offer(url: "https://example.org"), false),
            (offer(data: ["public.html"]), false),
        ]
        for (made, isFile) in offers {
            for name in MediaType.fileTransfers {
                #expect(DragOffer.isFileTransfer(name) && (made.answer(to: name) != nil) == isFile, "\(made)")
                if isFile { #expect(made.answer(to: name) == made.answer(to: "text/uri-list")) }
            }
        }
    }

    @Test("Text has no address of a copy, so that editors insert the text")
    func text() {
        #expect(!offer(data: ["public.plain-text", "public.html"]).mediaTypes.contains("text/uri-list"))
    }

    @Test("A web address is offered as text, not as a file; other schemes and files are not offered")
    func webAddresses() {
        let web = offer(url: "https://example.org/a b".replacing(" ", with: "%20"))
        #expect(web.mediaTypes == ["text/plain;charset=utf-8", "text/plain"])
        for other in ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "notes://1", "https://a b", ""] {
            #expect(offer(url: other).mediaTypes.isEmpty, "\(other)")
        }
        // The promised text takes precedence over the URL as text.
        guard case .content? = offer(data: ["public.plain-text"], url: "https://example.org").answer(to: "text/plain")
        else { return #expect(Bool(false)) }
    }

    @Test("Folders and text in UTF-16 are no bytes; odd types are ignored, and the number is bounded")
    func oddTypes() {
        #expect(offer(files: ["public.folder"]).mediaTypes == ["text/uri-list"])
        #expect(!offer(data: ["public.utf16-plain-text"]).mediaTypes.contains("text/plain"))
        #expect(offer(data: ["", "no type", "com.example.unknown"]).mediaTypes.allSatisfy { $0 == "text/uri-list" })
        let many = [
            "public.png", "public.jpeg", "public.tiff", "com.adobe.pdf", "public.html", "public.rtf", "public.xml",
        ]
        #expect(offer(data: (0..<200).flatMap { _ in many }).mediaTypes.count <= 32)
    }
}
