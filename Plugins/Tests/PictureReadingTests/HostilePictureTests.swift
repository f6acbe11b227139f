// SPDX-License-Identifier: Apache-2.0
import Foundation
import PluginTesting
import Testing

@testable import PictureReading

/// Pictures that expand, refer to themselves, state wrong sizes and end early.
@Suite("Reading hostile pictures", .timeLimit(.minutes(5)))
struct HostilePictureTests {
    private static let hostile = Result { try SampleDocuments(.hostile, by: "make-pictures") }

    private func content(_ name: String) throws -> PictureContent {
        // The clock is paused, since a busy machine decodes slowly.
        let now = ContinuousClock.now
        return try #require(try PictureFile(contentsOf: Self.hostile.get()[name])).content(PictureDecoder(now: { now }))
    }

    @Test(arguments: [
        ("bomb.png", PictureProblem.tooLarge), ("sizes.png", .tooLarge), ("canvas.gif", .tooLarge),
        ("line.png", .tooLarge), ("samples.tif", .tooLarge), ("tile.tif", .tooLarge),
        ("huge.tif", .tooLarge), ("strip.tif", .tooLarge), ("lies.jpg", .tooLarge), ("lies.png", .damaged),
        ("cut.jpg", .damaged), ("cut.png", .damaged), ("cut.gif", .damaged), ("cut.webp", .damaged),
        ("cut.tif", .damaged), ("cut.heic", .damaged), ("text.jpg", .damaged), ("zero.tif", .damaged),
        ("cyclic.nef", .noPreview), ("preview.nef", .noPreview), ("zeros.cr2", .noPreview), ("empty.jpg", .damaged),
        ("empty.heic", .damaged), ("noise.webp", .damaged), ("noise.raf", .noPreview),
    ])
    func problemIsNamed(_ name: String, _ problem: PictureProblem) throws {
        let found = try content(name).problem
        #expect(found == problem)
    }

    @Test func aPictureThatIsTooLargeToDecodeHasItsSize() throws {
        let content = try content("bomb.png")
        #expect((content.width, content.height) == (60_000, 60_000) && content.thumbnail == nil)
    }

    @Test func aWidePictureIsReducedRowByRow() throws {
        let content = try content("wide.png")
        #expect(content.width == 100_000 && content.thumbnail != nil && content.problem == nil)
    }

    @Test func aPictureThatEndsEarlyHasItsBeginning() throws {
        for name in ["cut.jpg", "cut.png"] { #expect(try content(name).thumbnail != nil, "\(name)") }
    }

    @Test func everyHostilePictureIsReadWithinItsBounds() throws {
        for path in try Self.hostile.get().files {
            let content = try #require(try PictureFile(contentsOf: path)).content()
            #expect((content.thumbnail?.bytes.count ?? 0) <= PictureFile.maximumThumbnail, "\(path)")
            #expect(content.keywords.count <= 200 && (content.title?.utf8.count ?? 0) <= 16 << 10, "\(path)")
        }
    }

    @Test func entitiesAreNotExpanded() throws {
        let title = try content("entities.jpg").title ?? ""
        #expect(!title.contains("haha") && !title.contains("root:"))
    }

    @Test func directoriesThatReferToThemselvesAreReadOnce() throws {
        for name in ["cyclic.jpg", "cyclic.tif"] { #expect(try content(name).camera == CameraProperties()) }
        let block = try Data(contentsOf: URL(filePath: Self.hostile.get()["cyclic.tif"]))
        #expect(TIFFFile(PictureSource(Array(block)))?.directories.count == 1)
    }

    @Test func mutatedPicturesAreReadWithinTheirBounds() throws {
        let isLong = ProcessInfo.processInfo.environment["SEARCHLIGHT_FUZZ_LONG"] != nil
        let pictures = try SampleDocuments(
            .mutations(count: isLong ? 100_000 : 1500, seed: 20_261_127), by: "make-pictures")
        var (count, whole) = (0, 0)
        for path in pictures.files {
            guard let content = try PictureFile(contentsOf: path)?.content() else { continue }
            count += 1
            if content.problem == nil { whole += 1 }
            #expect((content.thumbnail?.bytes.count ?? 0) <= PictureFile.maximumThumbnail, "\(path)")
        }
        // Mutations leave some pictures intact and damage others.
        #expect(count >= 1500 && whole > count / 10 && whole < count)
    }

    @Test func decodingEndsWhenTheTimeIsOver() throws {
        let file = try #require(try PictureFile(contentsOf: Self.hostile.get()["wide.png"]))
        #expect(file.content(PictureDecoder(isCancelled: { true })).problem == .tooSlow)
        var reads = 0
        let start = ContinuousClock.now
        let late = PictureDecoder(now: {
            reads += 1
            return start + .seconds(reads > 1 ? 11 : 0)
        })
        #expect(file.content(late).problem == .tooSlow)
    }
}
