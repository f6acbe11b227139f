// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Glibc
import ItemRecord
import SearchlightExtension
import ServiceMessages
import Testing

@testable import ExtensionRuntime

@Suite("The previews of a native extension")
struct PreviewTests {
    private let fake = FakeHost()

    /// Answers a preview request with attachments that all have the same bytes.
    private func show(
        _ content: String = "<p>", attachments: [(identifier: String, type: String, length: Int)] = [],
        count: UInt32? = nil, change: (inout searchlight_preview_reply) -> Void = { _ in }
    ) throws -> RequestOutcome? {
        let requests: searchlight_host_request = try fake.interface(SEARCHLIGHT_HOST_REQUEST)
        let bytes = [UInt8](repeating: 9, count: attachments.map(\.length).max() ?? 0) + [0]
        let (request, answers) = fake.open()
        let names = attachments.map { strdup($0.identifier) }
        let types = attachments.map { strdup($0.type) }
        defer { (names + types).forEach { free($0) } }
        bytes.withUnsafeBytes { bytes in
            let parts = attachments.indices.map { place in
                searchlight_attachment(
                    size: UInt32(MemoryLayout<searchlight_attachment>.size), reserved: 0, identifier: names[place],
                    content_type: types[place], bytes: bytes.baseAddress, length: attachments[place].length)
            }
            parts.withUnsafeBufferPointer { parts in
                let pointers = parts.indices.map { parts.baseAddress?.advanced(by: $0) }
                pointers.withUnsafeBufferPointer { pointers in
                    content.withCString { text in
                        "public.html".withCString { type in
                            var reply = searchlight_preview_reply(
                                size: UInt32(MemoryLayout<searchlight_preview_reply>.size),
                                attachment_count: count ?? UInt32(attachments.count), content_type: type, title: nil,
                                bytes: text, length: content.utf8.count, width: 320, height: 200,
                                attachments: pointers.baseAddress)
                            change(&reply)
                            requests.finish_with_preview(fake.host, request, &reply)
                        }
                    }
                }
            }
        }
        return answers.last
    }

    private func status(_ outcome: RequestOutcome?) -> ExtensionStatus? {
        if case .failed(let status, _)? = outcome { status } else { nil }
    }

    @Test("arrive with their attachments, and can be divided again")
    func attachments() throws {
        let outcome = try show(
            "<img src=cid:a>", attachments: [("a", "public.png", 3), ("b.c_d-1", "public.jpeg", 0)])
        guard case .preview(let preview)? = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        var arguments = BusArguments(try preview.reply().arguments, of: "Preview")
        let reply = try PreviewReply(&arguments)
        try arguments.finish()
        #expect(reply.header.size == PreviewHeader.Size(width: 320, height: 200))
        #expect(reply.header.attachments.map(\.identifier) == ["a", "b.c_d-1"])
        #expect(reply.header.attachments.map(\.contentType) == ["public.png", "public.jpeg"])
        let (content, parts) = reply.header.parts(of: try reply.content.bytes(upTo: PreviewHeader.maximumBytes))
        #expect(String(decoding: content, as: UTF8.self) == "<img src=cid:a>")
        #expect(parts.map { Array($0) } == [[9, 9, 9], []])
    }

    @Test("may have 256 attachments and 32 MiB in all, and not more")
    func limits() throws {
        let many = (0..<256).map { (identifier: "a\($0)", type: "public.png", length: 1) }
        guard case .preview? = try show(attachments: many) else {
            Issue.record("256 attachments were refused")
            return
        }
        #expect(status(try show(attachments: many + [("one-more", "public.png", 1)])) == .tooLarge)
        #expect(status(try show(attachments: [("a", "public.png", (32 << 20) - 2)])) == .tooLarge)
        #expect(status(try show { $0.length = (32 << 20) + 1 }) == .tooLarge)
        #expect(fake.link.misuses == [.invalidArgument, .invalidArgument, .invalidArgument])
    }

    @Test("have a title of at most 16 KiB, and a type of at most 255 bytes")
    func longTexts() throws {
        let long = String(repeating: "ä", count: 20 << 20)
        try long.withCString { long in
            guard case .preview(let preview)? = try show(change: { $0.title = long }) else {
                Issue.record("a long title was refused")
                return
            }
            #expect(preview.title?.utf8.count == maximumMessageBytes)
            #expect(status(try show { $0.content_type = long }) == .invalidArgument)
        }
    }

    @Test(
        "refuse attachments without a proper name or type",
        arguments: [
            ("", "public.png"), ("a b", "public.png"), ("a/b", "public.png"), ("ä", "public.png"),
            (String(repeating: "x", count: 256), "public.png"), ("a", ""), ("a", "text/html\"><script>"),
        ])
    func names(identifier: String, type: String) throws {
        #expect(status(try show(attachments: [(identifier, type, 1)])) == .invalidArgument)
    }

    @Test("refuse pointers to nothing")
    func nowhere() throws {
        #expect(status(try show(attachments: [("a", "public.png", 1), ("a", "public.png", 1)])) == .invalidArgument)
        #expect(status(try show(count: 2) { $0.attachments = nil }) == .invalidArgument)
        #expect(status(try show { $0.content_type = nil }) == .invalidArgument)
        #expect(status(try show { $0.size = 8 }) == .invalidArgument)
        #expect(
            status(
                try show {
                    $0.bytes = nil
                    $0.length = 1
                }) == .invalidArgument)
        let requests: searchlight_host_request = try fake.interface(SEARCHLIGHT_HOST_REQUEST)
        let (request, answers) = fake.open()
        requests.finish_with_preview(fake.host, request, nil)
        #expect(status(answers.last) == .invalidArgument)
    }

    @Test("A hostile worker's list of attachments is rejected")
    func hostileLists() {
        func read(_ texts: [String], content: [UInt8] = [1, 2, 3]) -> Bool {
            let values: [BusValue] = [
                .string("public.html"), .string(""), .bytes(content), .double(.nan), .double(-1), .strings(texts),
            ]
            var arguments = BusArguments(values, of: "Preview")
            return (try? PreviewReply(&arguments)) != nil
        }
        #expect(read([]) && read(["a", "public.png", "3"]))
        for texts in [
            ["a"], ["a", "public.png", "4"], ["a", "public.png", "-1"], ["a", "public.png", "x"],
            ["a b", "public.png", "1"], ["a", "", "1"], ["a", "public.png", "1", "a", "public.png", "1"],
            ["a", "public.png", "2", "b", "public.png", "2"], ["a", "public.png", "18446744073709551615"],
        ] {
            #expect(!read(texts), "\(texts)")
        }
        #expect(!read((0..<257).flatMap { ["a\($0)", "public.png", "0"] }))
    }
}
