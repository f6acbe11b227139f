// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniformTypeIdentifiers

@Suite("Paths and types")
struct PathTests {
    @Test(
        "A name gets the preferred extension unless it has a matching one",
        arguments: [
            ("puppy", UTType.jpeg, "puppy.jpeg"), ("puppy.jpg", .jpeg, "puppy.jpg"), ("puppy.JPG", .image, "puppy.JPG"),
            ("puppy.jpg", .plainText, "puppy.jpg.txt"), ("puppy", .image, "puppy"), (".hidden", .png, ".hidden.png"),
            ("a.b.tar", .gzip, "a.b.tar.gz"), ("dot.", .png, "dot..png"),
        ] as [(String, UTType, String)])
    func names(name: String, type: UTType, expected: String) {
        #expect("dir".appendingPathComponent(name, conformingTo: type) == "dir/" + expected)
        #expect(("/x/" + name).appendingPathExtension(for: type) == "/x/" + expected)
        #expect(NSString(string: "dir").appendingPathComponent(name, conformingTo: type) == "dir/" + expected)
        #expect(NSString(string: "/x/" + name).appendingPathExtension(for: type) == "/x/" + expected)
        let url = URL(filePath: "/base", directoryHint: .isDirectory)
        #expect(url.appendingPathComponent(name, conformingTo: type).path == "/base/" + expected)
        #expect(URL(filePath: "/base/" + name).appendingPathExtension(for: type).path == "/base/" + expected)
        var changed = url
        changed.appendPathComponent(name, conformingTo: type)
        #expect(changed.lastPathComponent == expected)
    }

    @Test("A directory type makes a directory's URL")
    func directories() {
        let url = URL(filePath: "/base").appendingPathComponent("Notes", conformingTo: .rtfd)
        #expect(url.hasDirectoryPath && url.path == "/base/Notes.rtfd")
        #expect(!URL(filePath: "/base").appendingPathComponent("n", conformingTo: .png).hasDirectoryPath)
    }

    @Test("A dynamic type keeps its own extension")
    func dynamicTypes() throws {
        let type = try #require(UTType(filenameExtension: "frob"))
        #expect("a.FROB".appendingPathExtension(for: type) == "a.FROB")
        #expect("a".appendingPathExtension(for: type) == "a.frob")
        #expect("".appendingPathExtension(for: type) == "")
        #expect("dir.x/".appendingPathExtension(for: type) == "dir.x.frob/")
    }
}
