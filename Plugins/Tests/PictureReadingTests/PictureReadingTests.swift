// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import PluginTesting
import Testing

@testable import PictureReading

/// Pictures of all formats, made by the script, each read alone. ExifTool wrote their metadata.
@Suite("Reading pictures")
struct PictureReadingTests {
    private static let ordinary = Result { try SampleDocuments(.ordinary, by: "make-pictures") }

    private func file(_ name: String) throws -> PictureFile {
        try #require(try PictureFile(contentsOf: Self.ordinary.get()[name]))
    }

    private func content(_ name: String) throws -> PictureContent { try file(name).content() }

    /// Decodes a JPEG or PNG of the test.
    private func decoded(_ bytes: [UInt8], _ format: PictureKind.Format, side: Int = 1000) throws -> DecodedPicture {
        let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).bin"
        try Data(bytes).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try OpenedFile(in: nil, name: path, followingLinks: true, opener: .system)
        let (picture, problem) = PictureDecoder().decode(PictureSource(file), format, side: side)
        #expect(problem == nil)
        return picture
    }

    /// Returns the letters of the four quarters, from the top left, clockwise: r, g, b, w, or - for
    /// transparent.
    private func quarters(_ picture: DecodedPicture) throws -> String {
        let (columns, rows) = (Int(picture.picture.columns), Int(picture.picture.rows))
        let pixels = try #require(picture.picture.pixels)
        return [(1, 1), (3, 1), (3, 3), (1, 3)].map { x, y in
            let at = 4 * (rows * y / 4 * columns + columns * x / 4)
            if pixels[at + 3] < 128 { return "-" }
            switch (pixels[at] > 128, pixels[at + 1] > 128, pixels[at + 2] > 128) {
            case (true, false, false): return "r"
            case (false, true, false): return "g"
            case (false, false, true): return "b"
            case (true, true, true): return "w"
            default: return "?"
            }
        }
        .joined()
    }

    @Test func everyOrdinaryPictureHasASizeAThumbnailAndNoProblem() throws {
        let files = try Self.ordinary.get().files
        #expect(files.count >= 40)
        for path in files {
            let content = try #require(try PictureFile(contentsOf: path), "\(path)").content()
            #expect(content.problem == nil, "\(path) \(String(describing: content.problem))")
            #expect(content.width != nil && content.thumbnail != nil, "\(path)")
        }
    }

    @Test(arguments: [
        "plain.png", "palette.png", "interlaced.png", "progressive.jpg", "print.jpg", "photo.webp", "lossless.webp",
        "film.webp", "film.gif", "interlaced.gif", "plain.tif", "packed.tiff", "jpeg.tif", "tiled.tif", "phone.heic",
        "phone.avif", "turned-1.jpg",
    ])
    func pixelsAreDecodedInTheirOrder(_ name: String) throws {
        let file = try file(name)
        let (picture, problem) = PictureDecoder().decode(PictureSource(file.file), file.kind.format, side: 256)
        #expect(problem == nil && picture.picture.columns == 96 && picture.picture.rows == 64)
        #expect(try quarters(picture) == "rgbw")
    }

    @Test func picturesAreReducedToTheWantedSize() throws {
        for (side, size) in [(256, (256, 171)), (10, (10, 7)), (1, (1, 1)), (5000, (1200, 800))] {
            let (picture, _) = PictureDecoder().decode(PictureSource(try file("large.jpg").file), .jpeg, side: side)
            #expect((Int(picture.picture.columns), Int(picture.picture.rows)) == size)
            if side > 5 { #expect(try quarters(picture) == "rgbw") }
        }
        for name in ["plain.png", "plain.tif", "lossless.webp", "film.gif", "phone.heic", "interlaced.png"] {
            let file = try file(name)
            let (picture, _) = PictureDecoder().decode(PictureSource(file.file), file.kind.format, side: 30)
            #expect(picture.picture.columns == 30 && picture.picture.rows == 20, "\(name)")
            #expect(try quarters(picture) == "rgbw", "\(name)")
        }
    }

    @Test(arguments: 1...8)
    func orientationIsHonoured(_ orientation: Int) throws {
        // The corners of the stored picture, as EXIF 2.32 describes each orientation.
        let expected = ["rgbw", "grwb", "bwrg", "wbgr", "rwbg", "wrgb", "bgrw", "gbwr"][orientation - 1]
        let content = try content("turned-\(orientation).jpg")
        #expect((content.width, content.height) == (orientation >= 5 ? (64, 96) : (96, 64)))
        let thumbnail = try decoded(try #require(content.thumbnail).bytes, .jpeg)
        #expect(try quarters(thumbnail) == expected)
        for isPNG in [false, true] {
            let copy = try file("turned-\(orientation).jpg").copy(asPNG: isPNG, side: 48, withLocation: true)
            #expect(try quarters(decoded(copy, isPNG ? .png : .jpeg)) == expected)
        }
    }

    @Test func transparentPicturesHaveATransparentThumbnail() throws {
        for name in ["clear.png", "clear.webp"] {
            let content = try content(name)
            let thumbnail = try #require(content.thumbnail)
            #expect(thumbnail.contentType == "public.png" && content.hasAlpha == true)
            #expect(try quarters(decoded(thumbnail.bytes, .png)) == "-gbw")
        }
        #expect(try content("plain.png").thumbnail?.contentType == "public.jpeg")
    }

    @Test func exifIsRead() throws {
        for name in ["harbour.jpg", "packed.tiff", "photo.webp", "phone.heic", "phone.avif", "sensor.raf"] {
            let content = try content(name)
            let camera = content.camera
            #expect(camera.make == "Pelican" && camera.model == "P 100" && camera.lens == "35mm F2", "\(name)")
            #expect(camera.exposureText == "1/250" && camera.fNumber == 5.6 && camera.iso == 200, "\(name)")
            #expect(camera.focalLength == 35 && camera.focalLength35mm == 52 && camera.flash == 1, "\(name)")
            #expect(camera.meteringMode == 5 && camera.exposureProgram == 3, "\(name)")
            // 12:30:15.50 at two hours east of Greenwich.
            #expect(content.captured == Date(timeIntervalSince1970: 1_714_559_415.5), "\(name)")
            #expect(abs((content.location.latitude ?? 0) - 59.9139) < 1e-6, "\(name)")
            #expect(abs((content.location.longitude ?? 0) + 10.7522) < 1e-6, "\(name)")
            #expect(content.location.altitude == -12.5 && content.location.direction == 270, "\(name)")
        }
        let harbour = try content("harbour.jpg")
        #expect(harbour.description == "The ferry in fog" && harbour.authors == ["Ada Quill"])
        #expect(harbour.copyright == "(c) Ada Quill" && harbour.orientation == 6)
        #expect(try content("phone.heic").orientation == 1)
    }

    @Test func iptcIsRead() throws {
        let content = try content("words.jpeg")
        #expect(content.keywords == ["harbour", "fähre"] && content.title == "Ferry at dawn")
        #expect(content.location.names == ["Oslo", "Norway"])
        #expect(content.authors == ["Bo Reed"] && content.headline == "Morning")
    }

    @Test(arguments: ["packet.JPG", "packet.png", "photo.webp", "packed.tiff", "phone.heic"])
    func xmpIsReadAndTakesPrecedence(_ name: String) throws {
        let content = try content(name)
        #expect(content.title == "Lighthouse" && content.description == "The beacon" && content.rating == 4)
        #expect(content.keywords == ["beacon", "night"] && content.authors == ["Cy Marsh"])
        #expect(content.copyright == "Shoal Press" && content.location.names == ["Pier three", "Bergen", "Norway"])
        // A region of a pet is no person.
        #expect(content.people == ["Dee Coral", "Eve Rope"])
    }

    @Test func textsOfPNGAreRead() throws {
        let content = try content("texts.png")
        #expect(content.title == "Grüße" && content.authors == ["Uwe Sée"])
    }

    @Test(arguments: ["sensor.nef", "sensor.dng", "sensor.orf"])
    func rawFilesHaveTheirPreviewAndTheirOwnSize(_ name: String) throws {
        let content = try content(name)
        #expect(content.camera.make == "Pelican" && content.camera.model == "Raw One" && content.camera.iso == 400)
        #expect((content.width, content.height) == (4000, 6000) && content.orientation == 8)
        #expect(content.captured == Date(timeIntervalSince1970: 1_688_796_611))
        #expect(try quarters(decoded(try #require(content.thumbnail).bytes, .jpeg)) == "gbwr")
    }

    @Test func copiesKeepTheCaptureAndLeaveTheLocationOutIfAsked() throws {
        for isPNG in [false, true] {
            for withLocation in [false, true] {
                let bytes = try file("harbour.jpg").copy(asPNG: isPNG, side: 64, withLocation: withLocation)
                let path = FileManager.default.temporaryDirectory.path + "/\(UUID()).\(isPNG ? "png" : "jpg")"
                try Data(bytes).write(to: URL(filePath: path))
                defer { try? FileManager.default.removeItem(atPath: path) }
                let copy = try #require(try PictureFile(contentsOf: path)).content()
                #expect(copy.camera.make == "Pelican" && copy.camera.lens == "35mm F2" && copy.camera.iso == 200)
                #expect(copy.captured == Date(timeIntervalSince1970: 1_714_559_415) && copy.orientation == 1)
                #expect((copy.width, copy.height) == (43, 64) && copy.authors == ["Ada Quill"])
                #expect(copy.location.isKnown == withLocation)
                if withLocation { #expect(abs((copy.location.longitude ?? 0) + 10.7522) < 1e-5) }
                // Another program reads the same.
                let text = try exiftool(path)
                #expect(text.contains("\"Make\": \"Pelican\"") && !text.contains("Warning"), "\(text)")
                #expect(text.contains("GPSLatitude") == withLocation)
            }
        }
    }

    private func exiftool(_ path: String) throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/exiftool")
        process.arguments = ["-j", "-warning", "-a", "-EXIF:all", path]
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    @Test(arguments: [
        ("a.JPG", "public.jpeg"), ("a.jpeg", "public.jpeg"), ("a.png", "public.png"), ("a.tif", "public.tiff"),
        ("a.webp", "org.webmproject.webp"), ("a.gif", "com.compuserve.gif"), ("a.HEIC", "public.heic"),
        ("a.avif", "public.avif"), ("a.nef", "com.nikon.raw-image"), ("a.dng", "com.adobe.raw-image"),
    ])
    func contentTypeIsThatOfTheName(_ name: String, _ type: String) {
        #expect(PictureKind(fileName: name)?.contentType == type)
    }

    @Test(arguments: ["a.svg", "a.pdf", "a", ".png", "a.", "", "a.mp4", "a.xcf"])
    func otherFilesAreNoPictures(_ name: String) { #expect(PictureKind(fileName: name) == nil) }

    @Test func pageShowsThePropertiesAndEscapesThem() throws {
        var content = try content("harbour.jpg")
        content.title = "<b>&"
        let html = try file("harbour.jpg").html(content, picture: "cid:picture")
        #expect(html.contains("<h1>&lt;b&gt;&amp;</h1>") && html.contains("<img src=\"cid:picture\""))
        #expect(html.contains("59.9139° N, 10.7522° W") && html.contains("1/250 s, f/5.6, ISO 200, 35 mm"))
    }
}
