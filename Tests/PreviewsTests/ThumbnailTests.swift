// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord
import TestSupport
import Testing
@testable import Previews

@Suite("Thumbnails")
struct ThumbnailTests {
    private func problem(_ reference: Thumbnail.Reference, owner: UInt32 = geteuid()) -> Thumbnail.Problem? {
        do throws(Thumbnail.Problem) {
            _ = try Thumbnail.read(reference, owner: owner)
            return nil
        } catch {
            return error
        }
    }

    @Test("An item refers to its data before its file, and to no URL of the web")
    func reference() {
        func reference(_ attributes: [String: AttributeValue]) -> Thumbnail.Reference? {
            ItemRecord(uniqueIdentifier: "i", attributes: attributes).thumbnailReference
        }
        #expect(reference(["thumbnailData": .data([1]), "thumbnailURL": .url("file:///a")]) == .data([1]))
        #expect(reference(["thumbnailData": .data([]), "thumbnailURL": .url("file:///a%20b")]) == .file(path: "/a b"))
        #expect(reference(["thumbnailURL": .url("https://example.com/a.png")]) == nil)
        #expect(reference([:]) == nil)
    }

    @Test("A picture is read, from the item and from a file of the user")
    func read() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/a"
        try Data(Pictures.png(width: 4, height: 3)).write(to: URL(filePath: path))
        for reference in [Thumbnail.Reference.data(Pictures.png(width: 4, height: 3)), .file(path: path)] {
            let thumbnail = try Thumbnail.read(reference)
            #expect(thumbnail.header.format == .png && thumbnail.header.width == 4 && thumbnail.header.height == 3)
        }
    }

    @Test("A special file or another user's file is rejected at once, even a pipe without a writer")
    func files() throws {
        let folder = try TemporaryFolder()
        let (file, link, pipe) = (folder.path + "/file", folder.path + "/link", folder.path + "/pipe")
        try Data(Pictures.png()).write(to: URL(filePath: file))
        try #require(symlink(file, link) == 0 && mkfifo(pipe, 0o600) == 0)
        #expect(problem(.file(path: file)) == nil)
        #expect(problem(.file(path: link)) == .system(path: link, code: ELOOP))
        #expect(problem(.file(path: folder.path + "/none")) == .system(path: folder.path + "/none", code: ENOENT))
        for path in [pipe, folder.path, "/dev/null", "/dev/zero", "/proc/self/status", "/proc/self/environ"] {
            #expect(problem(.file(path: path)) == .notAFile(path: path))
        }
        #expect(problem(.file(path: file), owner: geteuid() &+ 1) == .notOwned(path: file))
    }

    @Test("A file that is no picture, too large, or claims too many pixels is rejected")
    func contents() throws {
        #expect(problem(.data(Array("<svg/>".utf8))) == .notAPicture)
        #expect(
            problem(.data(Pictures.png(width: 100_000, height: 100_000)))
                == .tooManyPixels(width: 100_000, height: 100_000))
        let large = [UInt8](repeating: 0, count: Thumbnail.maximumBytes + 1)
        #expect(problem(.data(large)) == .tooManyBytes(count: large.count))
        let folder = try TemporaryFolder()
        // Never written, so the file is a hole.
        let path = folder.path + "/hole"
        try #require(FileManager.default.createFile(atPath: path, contents: nil) && truncate(path, 1 << 40) == 0)
        #expect(problem(.file(path: path)) == .tooManyBytes(count: 1 << 40))
    }

    @Test("The default preview shows it")
    func shown() throws {
        let record = ItemRecord(uniqueIdentifier: "i", attributes: ["title": .string("T")])
        let thumbnail = try Thumbnail.read(.data(Pictures.png()))
        #expect(
            AttributePreview(record, query: nil, thumbnail: thumbnail).html.contains(
                "<img src=\"data:image/png;base64,iVBOR"))
        #expect(!AttributePreview(record, query: nil).html.contains("<img"))
    }
}
