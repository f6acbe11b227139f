// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Promises
import SearchIndex
import SystemSupport
import Testing

@testable import SearchlightEngine

/// Search results of the shipped extensions, dropped on each kind of receiver, with real workers.
@Suite("Results dropped on receivers", .timeLimit(.minutes(10)))
struct ReceiverTests {
    private let harness: Harness

    init() throws { harness = try Harness() }

    /// A dragged search result.
    private struct Sample {
        /// The heading of its column in the table.
        var name: String
        /// A search whose best hit is the item.
        var search: String
        var bundle: String
        /// The original.
        var file: String
        /// The first and the last words of the item's text.
        var text: [String] = []
        /// The corresponding words of its HTML, if they differ.
        var html: [String]?
        /// The content of the message's attachment.
        var attachment: Data?
        /// The address of the item.
        var address: String?
        /// The width and height of the picture; `nil` to check only that the picture is complete.
        var size: [Int]?
    }

    private func path(_ name: String) -> String { harness.folder + "/" + name }

    /// Runs a script that generates files, and moves some of the files to a folder.
    private func make(_ script: String, _ arguments: [String] = [], moving names: [String: String]) throws {
        let made = path("made-" + UUID().uuidString)
        let process = try Process.run(
            URL(filePath: BuiltProducts.repository + "/Plugins/" + script), arguments: arguments + [made])
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        for (name, place) in names {
            let target = URL(filePath: path(place))
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.moveItem(at: URL(filePath: made + "/" + name), to: target)
        }
        try FileManager.default.removeItem(atPath: made)
    }

    private func samples() throws -> [Sample] {
        try make(
            "Tests/Fixtures/make-pictures",
            moving: ["phone.heic": "Pictures/phone.heic", "harbour.jpg": "Pictures/harbour.jpg"])
        try make("Tests/Fixtures/make-documents", moving: ["timetable.pdf": "Downloads/timetable.pdf"])
        try make("Tests/Fixtures/make-people", ["contacts"], moving: ["apple.vcf": ".contacts/apple.vcf"])
        try make(
            "Content/Tests/sample-mail", ["kinds"],
            moving: ["newsletter.eml": "Maildir/cur/1.one.host:2,S", "attachment.eml": "Maildir/cur/2.two.host:2,S"])
        for part in ["new", "tmp"] {
            try FileManager.default.createDirectory(atPath: path("Maildir/" + part), withIntermediateDirectories: true)
        }
        for product in ["Pictures", "Contacts"] { _ = try harness.installPlugin(product) }
        _ = try harness.installDocumentsWithCode()
        _ = try harness.installMail()
        return [
            Sample(
                name: "JPEG picture", search: "harbour", bundle: "com.searchlight.pictures",
                file: path("Pictures/harbour.jpg"), size: [64, 96]),
            Sample(
                name: "HEIC picture", search: "beacon", bundle: "com.searchlight.pictures",
                file: path("Pictures/phone.heic"), size: [96, 64]),
            Sample(
                name: "PDF document", search: "night bus", bundle: "com.searchlight.documents",
                file: path("Downloads/timetable.pdf"), text: ["Harbour bus", "leaves at two"]),
            Sample(
                name: "HTML message", search: "digest", bundle: "com.searchlight.mail",
                file: path("Maildir/cur/1.one.host:2,S"), text: ["Your weekly digest", "in a browser."],
                html: ["Weekly digest", "Ten lighthouses to see"]),
            Sample(
                name: "message with a PDF", search: "invoice", bundle: "com.searchlight.mail",
                file: path("Maildir/cur/2.two.host:2,S"), text: ["Invoice 2026-04", "The invoice is attached."],
                attachment: Data("%PDF-1.4\n".utf8 + [UInt8](repeating: UInt8(ascii: "0"), count: 3000))),
            Sample(
                name: "contact", search: "grace hopper", bundle: "com.searchlight.contacts",
                file: path(".contacts/apple.vcf"), text: ["Grace Hopper", "Vincent"],
                address: "mailto:grace@example.com"),
        ]
    }

    /// Returns the width and height in the header of a complete PNG or JPEG picture. Returns `nil`
    /// if its end is missing.
    private func size(of picture: [UInt8]) -> [Int]? {
        func number(_ at: Int, _ count: Int) -> Int { picture[at..<at + count].reduce(0) { $0 << 8 | Int($1) } }
        if picture.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
            guard picture.count > 45, picture.suffix(12).starts(with: [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44]) else {
                return nil
            }
            return [number(16, 4), number(20, 4)]
        }
        guard picture.starts(with: [0xFF, 0xD8]), picture.suffix(2) == [0xFF, 0xD9] else { return nil }
        var at = 2
        while at + 9 < picture.count, picture[at] == 0xFF {
            // The frame header: SOF0, SOF1 or SOF2.
            if (0xC0...0xC2).contains(picture[at + 1]) { return [number(at + 7, 2), number(at + 5, 2)] }
            at += 2 + number(at + 2, 2)
        }
        return nil
    }

    /// Returns `true` if the delivered bytes are the whole item in this representation.
    private func isWhole(_ data: Data, _ representation: Representation, _ sample: Sample) throws -> Bool {
        let original = try Data(contentsOf: URL(filePath: sample.file))
        let text = String(decoding: data, as: UTF8.self)
        switch representation.type {
        case "public.png",
            "public.jpeg" where representation.form == .data:
            guard let size = size(of: Array(data)) else { return false }
            return sample.size.map { $0 == size } ?? (min(size[0], size[1]) > 0)
        case "public.utf8-plain-text": return sample.text.allSatisfy(text.contains)
        case "public.html":
            return (sample.html ?? sample.text).allSatisfy(text.contains) && text.contains("</html>")
        case "public.url": return text == sample.address
        case "com.adobe.pdf" where sample.attachment != nil: return data == sample.attachment
        case "public.vcard" where representation.form == .data:
            return text.hasPrefix("BEGIN:VCARD\r\n") && text.hasSuffix("END:VCARD\r\n") && text.contains("Grace")
        default: return data == original
        }
    }

    /// Drops an item on a receiver, and returns the cell for the table.
    private func drop(
        _ item: StoredItem, _ sample: Sample, on accepts: PromiseResolution, _ engine: SearchlightEngine
    ) async throws -> String {
        let folder = path("dropped-" + UUID().uuidString)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        guard let choice = accepts.choice else { return "–" }
        let session = DragSession(
            StorePromises(engine),
            items: [
                .init(
                    item, resolution: accepts,
                    target: .deliver(.folder(path: folder, name: item.fileName(as: choice.type))))
            ])
        let outcome = try #require(await session.drop().first)
        guard let delivered = outcome.fulfilment else {
            Issue.record("\(sample.name): \(outcome.failure?.message ?? "")")
            return "failed"
        }
        let data = try Data(contentsOf: URL(filePath: try #require(delivered.path)))
        let isWhole = try isWhole(data, delivered.representation, sample)
        #expect(
            isWhole,
            "\(sample.name) as \(delivered.representation): \(String(decoding: data, as: UTF8.self).prefix(500))")
        let form =
            switch delivered.representation.form {
            case .data: "data"
            case .file: "file"
            case .inPlaceFile: "original"
            }
        return "`\(delivered.representation.type)`, \(form)"
    }

    /// The names of the sandbox's refusals.
    private var refusals: [String] {
        harness.recordedEvents.compactMap { event in
            if case .refusal(_, let refusal) = event { refusal.description } else { nil }
        }
    }

    /// Returns the table in a page whose first column has this heading.
    private func table(_ heading: String, in page: String) throws -> [String] {
        let lines = try String(contentsOfFile: BuiltProducts.repository + "/docs/" + page, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let start = try #require(lines.firstIndex { $0.hasPrefix("| \(heading) |") })
        return Array(lines[start...].prefix { $0.hasPrefix("|") })
    }

    @Test("Pictures, PDF pages, messages and contacts arrive whole, in the types of the table")
    func outcomes() async throws {
        let samples = try samples()
        try await harness.withEngine { engine async throws in
            for bundle in Set(samples.map(\.bundle)).sorted() { _ = try await engine.reindexAll(bundle) }
            var items: [StoredItem] = []
            for sample in samples {
                let hits = try await engine.search(sample.search, bundle: sample.bundle, limit: 1).hits
                let item = try #require(hits.first?.item, "\(sample.name)")
                #expect(item.record.contentPath == sample.file)
                items.append(item)
            }
            var rows = [
                "| Receiver | \(samples.map(\.name).joined(separator: " | ")) |",
                "|---|" + samples.map { _ in "---|" }.joined(),
            ]
            for profile in ReceiverProfile.shipped.sorted(by: { $0.name < $1.name }) {
                var cells: [String] = []
                for (item, sample) in zip(items, samples) {
                    let accepts = PromiseResolution(
                        item.record, accepted: profile.accepts, preferring: profile.order, forms: profile.takes)
                    cells.append(try await drop(item, sample, on: accepts, engine))
                }
                rows.append("| \(profile.name) | \(cells.joined(separator: " | ")) |")
            }
            // Some receivers accept only pictures. A document is then its first page.
            var cells: [String] = []
            for (item, sample) in zip(items, samples) {
                let accepts = PromiseResolution(item.record, accepted: ["public.png", "public.jpeg"])
                cells.append(try await drop(item, sample, on: accepts, engine))
            }
            rows.append("| only PNG and JPEG | \(cells.joined(separator: " | ")) |")
            let known = try table("Receiver", in: "UNIFORM-TYPES.md")
            #expect(known == rows, "The table should be:\n\(rows.joined(separator: "\n"))")
        }
        #expect(refusals == [])
    }

    @Test("A HEIC picture is found, previewed and converted, and the sandbox denies nothing")
    func heic() async throws {
        let sample = try #require(try samples().first { $0.name == "HEIC picture" })
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(sample.bundle)
            let item = try #require(
                try await engine.search("lighthouse bergen", bundle: nil, limit: 1).hits.first?.item)
            #expect(item.record.contentPath == sample.file && item.contentType == "public.heic")
            #expect(item.record.attributes["pixelWidth"] == .integer(96))
            #expect(item.record.attributes["thumbnailData"] != nil)
            let preview = try await engine.preview(of: item, query: "beacon")
            #expect(preview.source == .extension, "\(preview.problem ?? "")")
            #expect(String(decoding: preview.content, as: UTF8.self).contains("<img"))
            for type in ["public.png", "public.jpeg"] {
                let copy = path("copy")
                _ = try await engine.drag(item, accepted: [type], to: .file(path: copy))
                #expect(size(of: Array(try Data(contentsOf: URL(filePath: copy)))) == [96, 64])
            }
            // The original keeps its bytes.
            let original = path("original")
            _ = try await engine.drag(item, accepted: ["public.heic"], to: .file(path: original))
            #expect(
                try Data(contentsOf: URL(filePath: original)) == Data(contentsOf: URL(filePath: sample.file)))
        }
        #expect(harness.retries == 0)
        #expect(refusals == [])
    }
}
