// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings
import ExtensionRuntime
import ItemRecord

extension FuzzTarget {
    /// The log and the rows of an app's database, and the cursors between the pages of its items.
    static let databases = [
        FuzzTarget(name: "databaseLog", samples: { [sampleLog(pageSize: 512), sampleLog(pageSize: 1024)] }) { bytes in
            // The checksums are made right, so that mutations reach what they cover.
            let whole = withChecksums(bytes)
            guard let log = LogFrames(whole) else { return false }
            try require(log.pageCount > 0 && !log.pages.isEmpty, "a commit without pages")
            for (page, offset) in log.pages {
                try require(
                    page > 0 && offset > 0 && offset + log.pageSize <= whole.count, "the page \(page) at \(offset)")
            }
            return true
        },
        text(
            "databaseRow",
            tokens: [
                "<", ">", "&", "&#x", "&amp;", "<script>", "</script>", "<!--", "\"", "{", "[1,\"a\"]", " +01:00",
                "1e999", "nan", "-", "%", "/", "\u{1F}", ",", " <a@b>", "\u{301}", "\u{0}",
            ],
            samples: [
                "Grüße & <b>Küsse</b>", "1700000000", "-1e12", "2026-11-27 08:30:00 +0100", "[\"Ann\", 3, 1e9, null]",
                "Ann <ann@example.org>, bob@example.org", "/home/a b/c.txt", "<p>a<script>i<n</script>b&eacute;<br>",
            ]
        ) { text in
            let binding = try rowBinding.get()
            for value in [RowValue.text(text), .blob(Array(text.utf8)), .real(Double(text) ?? 0)] {
                let row = Row([("v", value)])
                let encoded = try binding.record(row, identifier: "note/1", domain: "note").encoded()
                // NaN is not equal to itself, so the encodings are compared.
                try require(try ItemRecord(decoding: encoded).encoded() == encoded, "another record")
                guard case .template(let template)? = binding.preview?.source else { throw Broken("no preview") }
                let page = template.text(row, .html) ?? ""
                try require(
                    !page.utf8.dropFirst(1).dropLast(1).contains { "<>\"'".utf8.contains($0) }, "unescaped: \(page)")
            }
            return true
        },
        FuzzTarget(
            name: "reindexCursor", tokens: ["{", "}", "\"", ":", ",", "\"key\"", "\"failure\"", "16", "-1"],
            samples: {
                var cursor = ReindexCursor(file: "/home/ann/notes.db", digests: RowDigests(of: try binding.get()))
                let first = cursor.bytes
                (cursor.key, cursor.failure) = (.text("note 5"), "it is locked")
                return [first, cursor.bytes]
            }
        ) { bytes in
            let binding = try binding.get()
            guard let cursor = ReindexCursor(bytes, of: binding) else { return false }
            try require(ReindexCursor(cursor.bytes, of: binding) == cursor, "another cursor")
            return true
        },
    ]

    // MARK: Rows

    /// A binding with a template for each kind of attribute and each format.
    private static let binding = Result {
        let formats = ["html", "path", "file", "lines", "commas", "words", "json", "unix", "unix-us", "julian", "iso"]
        let attributes =
            formats.map { "\"com_example_\($0.replacing("-", with: "_"))\": \"{v:\($0)}\"" } + [
                #""title": "{v} ({v:unix-ms})""#, #""textContent": "{v:html}""#, #""keywords": "{v:json}""#,
                #""authors": "{v:commas}""#, #""url": "{v}""#, #""contentURL": "{v:file}""#, #""thumbnailData": "{v}""#,
                #""contentCreationDate": "{v:webkit}""#, #""pageCount": "{v}""#, #""allDay": "{v}""#,
            ]
        return try DatabaseBinding(
            json: """
                {"Files": ["~/notes.db"], "Items": [{"Name": "note", "Select": "SELECT v FROM notes", "Key": "v",
                "Type": "{v}", "Attributes": {\(attributes.joined(separator: ", "))},
                "Promises": [{"Type": "{v}", "File": "{v}"}, {"Type": "public.html", "Template": "{v}"}],
                "Preview": {"Type": "public.html", "Template": "[{v}{v:lines}]"}}]}
                """)
    }

    private static let rowBinding = Result {
        guard let item = try binding.get().items.first else { throw Broken("no item") }
        return item
    }

    // MARK: The log

    private static let (logHeader, frameHeader) = (32, 24)

    /// Returns a write-ahead log of SQLite with three frames, of which two are committed.
    private static func sampleLog(pageSize: Int) -> [UInt8] {
        var log = big(0x377F_0682) + big(3_007_000) + big(pageSize) + big(1) + big(11) + big(22) + big(0) + big(0)
        for (page, committed) in [(1, 0), (2, 2), (3, 0)] {
            log += big(page) + big(committed) + big(11) + big(22) + big(0) + big(0)
            log += [UInt8](repeating: UInt8(page), count: pageSize)
        }
        return log
    }

    private static func big(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// Returns a log whose header and frames have the checksums of SQLite's format, written
    /// independently of the reader.
    private static func withChecksums(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= logHeader else { return bytes }
        var (log, first, second) = (bytes, UInt32(0), UInt32(0))
        func word(_ offset: Int, isBig: Bool) -> UInt32 {
            let places = isBig ? [0, 1, 2, 3] : [3, 2, 1, 0]
            return places.reduce(0) { $0 << 8 | UInt32(log[offset + $1]) }
        }
        let isBig = log[3] & 1 == 1
        func add(_ range: Range<Int>) {
            for offset in stride(from: range.lowerBound, to: range.upperBound - 7, by: 8) {
                first = first &+ word(offset, isBig: isBig) &+ second
                second = second &+ word(offset + 4, isBig: isBig) &+ first
            }
        }
        func write(at offset: Int) {
            log.replaceSubrange(offset..<offset + 8, with: big(Int(first)) + big(Int(second)))
        }
        add(0..<24)
        write(at: 24)
        let pageSize = Int(word(8, isBig: true))
        guard (512...65536).contains(pageSize) else { return log }
        var offset = logHeader
        while offset + frameHeader + pageSize <= log.count {
            add(offset..<offset + 8)
            add(offset + frameHeader..<offset + frameHeader + pageSize)
            write(at: offset + 16)
            offset += frameHeader + pageSize
        }
        return log
    }
}
