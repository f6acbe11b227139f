// SPDX-License-Identifier: Apache-2.0
import Foundation
import PluginTesting
import Testing

@testable import PictureReading

/// The desktop's thumbnails.
@Suite("Thumbnail cache")
final class ThumbnailCacheTests {
    private let home = FileManager.default.temporaryDirectory.path + "/thumbnails-" + UUID().uuidString

    init() throws { try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    /// The example in the standard.
    @Test func nameIsTheDigestOfTheAddress() {
        #expect(ThumbnailCache.name(of: "/home/jens/photos/me.png") == "c6ee772d9e49320e97ec29a7eb5b1697.png")
        #expect(ThumbnailCache.address(of: "/a b/ü;(1).png") == "file:///a%20b/%C3%BC%3B(1).png")
    }

    @Test func aThumbnailIsTakenIfItIsOfThePresentPicture() throws {
        let samples = try SampleDocuments(.ordinary, by: "make-pictures")
        let picture = home + "/a.png"
        try FileManager.default.copyItem(atPath: samples["plain.png"], toPath: picture)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: picture)
        let folder = home + "/.cache/thumbnails/large"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let cache = ThumbnailCache(environment: ["HOME": home])
        let file = try #require(try PictureFile(contentsOf: picture))
        let own = try #require(file.content(cache: cache).thumbnail)

        let name = try #require(ThumbnailCache.name(of: picture))
        func store(modified: Int, address: String) throws {
            let process = try Process.run(
                URL(filePath: "/usr/bin/python3"),
                arguments: [
                    "-c",
                    """
                    import sys
                    from PIL import Image, PngImagePlugin
                    texts = PngImagePlugin.PngInfo()
                    texts.add_text("Thumb::MTime", sys.argv[2])
                    texts.add_text("Thumb::URI", sys.argv[3])
                    Image.new("RGB", (200, 100), "purple").save(sys.argv[1], pnginfo=texts)
                    """, folder + "/" + name, String(modified), address,
                ])
            process.waitUntilExit()
        }
        let address = ThumbnailCache.address(of: picture)
        try store(modified: 1_700_000_001, address: address)
        #expect(file.content(cache: cache).thumbnail == own)
        try store(modified: 1_700_000_000, address: "file:///b.png")
        #expect(file.content(cache: cache).thumbnail == own)
        try store(modified: 1_700_000_000, address: address)
        let content = file.content(cache: cache)
        #expect(content.thumbnail != nil && content.thumbnail != own)
        #expect((content.width, content.height) == (96, 64) && content.problem == nil)
        // If a cached thumbnail is damaged, one is created.
        try Data(try Data(contentsOf: URL(filePath: folder + "/" + name)).dropLast(60)).write(
            to: URL(filePath: folder + "/" + name))
        #expect(file.content(cache: cache).thumbnail == own)
    }
}
