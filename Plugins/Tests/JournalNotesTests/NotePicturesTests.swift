// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import FileReading
@testable import JournalNotes

@Suite("Pictures of notes")
struct NotePicturesTests {
    let folder = TemporaryFolder()
    private static let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3])

    private func pictures(of note: String = "notes/trips/a.md") -> NotePictures {
        NotePictures(of: folder[note], in: NoteFolders(paths: [folder["notes"]]))
    }

    @Test(
        arguments: [
            ("b.png", "/n/t/b.png"), ("./x/../b%20c.png", "/n/t/b c.png"), ("../b.png", "/n/b.png"),
            ("b.png?size=2#top", "/n/t/b.png"), ("x/y:z.png", "/n/t/x/y:z.png"), ("../../../../b.png", nil), ("", nil),
            ("/b.png", nil), ("//host/b.png", nil), ("https://h/b.png", nil), ("data:image/png;base64,AA", nil),
            ("file:b.png", nil), ("#b", nil), ("%ZZ.png", nil),
        ] as [(String, String?)])
    func relativeAddressesLeadToFilesBesideTheNote(address: String, path: String?) {
        #expect(NotePictures.path(of: address, beside: "/n/t/a.md") == path)
    }

    @Test func picturesOfTheFoldersAreTakenOnceEach() throws {
        try folder.write(Self.png, to: "notes/trips/img/b c.png")
        try folder.write(Data("GIF89a".utf8), to: "notes/d.gif")
        var pictures = pictures()
        #expect(pictures.reference(to: "img/b%20c.png") == "cid:picture-1")
        #expect(pictures.reference(to: "../d.gif") == "cid:picture-2")
        #expect(pictures.reference(to: "img/b%20c.png") == "cid:picture-1")
        #expect(pictures.pictures.map(\.contentType) == ["public.png", "com.compuserve.gif"])
        #expect(pictures.pictures.first?.bytes == Self.png)
    }

    @Test func nothingElseIsTaken() throws {
        try folder.write(Self.png, to: "secret.png")
        try folder.write(Self.png, to: "notes/.hidden/a.png")
        try folder.write(Self.png, to: "elsewhere/a.png")
        try folder.write("no picture", to: "notes/trips/text.png")
        try folder.write(Self.png + Data(count: NotePictures.maximumPictureBytes), to: "notes/trips/large.png")
        try folder.link("notes/trips/link.png", to: folder["secret.png"])
        try folder.link("notes/trips/dir", to: folder["elsewhere"])
        mkfifo(folder["notes/trips/pipe.png"], 0o600)
        var pictures = pictures()
        for address in [
            "../../secret.png", "../.hidden/a.png", "text.png", "large.png", "link.png", "dir/a.png", "pipe.png",
            "none.png", "..", ".", "a%00.png", String(repeating: "a", count: 5000) + ".png",
        ] {
            let reference = pictures.reference(to: address)
            #expect(reference == nil, "\(address.prefix(80))")
        }
        #expect(pictures.pictures.isEmpty)
    }

    @Test func theirNumberAndSizeAreBounded() throws {
        try folder.write(Self.png, to: "notes/trips/a.png")
        var pictures = pictures()
        for number in 0..<NotePictures.maximumCount { _ = pictures.reference(to: "a.png?\(number)") }
        let one = pictures.reference(to: "a.png")
        #expect(one == nil && pictures.pictures.count == NotePictures.maximumCount)

        var large = self.pictures()
        try folder.write(Self.png + Data(count: NotePictures.maximumPictureBytes - 11), to: "notes/trips/b.png")
        let references = [large.reference(to: "b.png"), large.reference(to: "b.png?"), large.reference(to: "a.png")]
        #expect(references == ["cid:picture-1", nil, "cid:picture-2"])
    }

    @Test func pageNamesThemInPlaceOfTheirAddresses() throws {
        let note = try #require(
            try {
                try folder.write("![A](a.png) ![B](b.png \"t\") [a](a.png)", to: "notes/a.md")
                return try NoteFile(contentsOf: folder["notes/a.md"])
            }())
        let page = note.html { $0 == "a.png" ? "cid:picture-1" : nil }
        #expect(page.contains("<img src=\"cid:picture-1\" alt=\"A\" />"))
        #expect(page.contains("<img src=\"b.png\" alt=\"B\" title=\"t\" />"))
        #expect(page.contains("<a href=\"a.png\">"))
    }
}
