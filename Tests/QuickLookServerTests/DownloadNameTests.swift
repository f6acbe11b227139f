// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import QuickLookServer

/// The file names of downloads, and the time since the last request.
@Suite("Downloads and idleness")
struct DownloadNameTests {
    @Test(
        "A title becomes one path component with the type's extension",
        arguments: [
            ("Ferry times", "public.html", "Ferry times.html"), ("a/b\\c:d\"e", "public.png", "a-b-c-d-e.png"),
            ("../../etc/passwd", "public.utf8-plain-text", "-..-etc-passwd.txt"),
            ("notes.HTML", "public.html", "notes.HTML"),
            ("", "public.html", "item.html"), ("...", "public.html", "item.html"), (" . x", "public.data", "x"),
            ("two\r\nSet-Cookie: x=y", "public.html", "two Set-Cookie- x=y.html"),
        ])
    func names(title: String, type: String, name: String) {
        #expect(DownloadName.suggested(title: title, type: type) == name)
    }

    @Test("A long title is truncated between characters")
    func long() {
        let name = DownloadName.suggested(title: String(repeating: "👩‍👩‍👧‍👦", count: 100), type: "public.html")
        #expect(name.utf8.count <= 190 && name.hasSuffix("👩‍👩‍👧‍👦.html"))
    }

    @Test("A header contains only a name, for old and new browsers")
    func header() {
        #expect(
            DownloadName.disposition("Fähre; \"x\"\r\n.txt")
                == "attachment; filename=\"F-hre- -x---.txt\"; filename*=UTF-8''F%C3%A4hre%3B%20%22x%22%0D%0A.txt")
    }

    @Test(
        "A media type is valid",
        arguments: [("public.html", "text/html"), ("com.example.unknown", "application/octet-stream")])
    func mediaTypes(type: String, media: String) { #expect(DownloadName.mediaType(of: type) == media) }

    @Test("A page without requests for the time, and without pending ones, is idle")
    func idle() {
        let activity = Activity()
        let start = ContinuousClock.now
        activity.begin()
        #expect(activity.rest(of: .seconds(10), at: start + .seconds(100)) == .seconds(10))
        activity.end(at: start + .seconds(100))
        #expect(activity.rest(of: .seconds(10), at: start + .seconds(104)) == .seconds(6))
        #expect(activity.rest(of: .seconds(10), at: start + .seconds(110)) == nil)
    }
}
