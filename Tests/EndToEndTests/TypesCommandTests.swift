// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// “searchlight types”: its output and its exit status.
@Suite("The types command", .timeLimit(.minutes(10)))
struct TypesCommandTests {
    private let harness: Harness

    init() throws { harness = try Harness() }

    private func types(_ arguments: String..., input: String = "") throws -> (status: Int32, output: String) {
        var environment = [
            "HOME": harness.folder, "XDG_DATA_DIRS": "/usr/local/share:/usr/share",
            "SEARCHLIGHT_EXTENSION_PATH": harness.extensions,
        ]
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        return try CFixture.run(
            try BuiltProducts.program("searchlight"), ["types"] + arguments, environment: environment, input: input)
    }

    @Test("reports conformance by its exit status and in words")
    func conforms() throws {
        #expect(try types("conforms", "public.html", "public.text") == (0, "true\n"))
        #expect(try types("conforms", "public.text", "public.html") == (1, "false\n"))
        #expect(try types("conforms", "Public.HTML", "public.data") == (0, "true\n"))
        #expect(try types("conforms", "com.example.nobody", "com.example.NOBODY") == (0, "true\n"))
        #expect(try types("conforms", "com.example.nobody", "public.data") == (1, "false\n"))
        #expect(try types("conforms", "public.html").status == 64)
    }

    @Test("answers each line of a list, even the malformed ones")
    func conformsList() throws {
        let (status, output) = try types(
            "conforms", "--stdin",
            input: "public.png\tpublic.image\npublic.png\tpublic.text\nnonsense\n\ndyn.age80s52\tdyn.age80s52\n")
        #expect(status == 0)
        let answers = output.split(separator: "\n").filter { !$0.hasPrefix("searchlight:") }
        #expect(answers == ["true", "false", "false", "false", "true"])
    }

    @Test("looks up extensions and MIME types, with and without a parent")
    func lookup() throws {
        #expect(try types("lookup", "--extension", "JPG") == (0, "public.jpeg\n"))
        #expect(try types("lookup", "--mime", "text/html") == (0, "public.html\n"))
        #expect(try types("lookup", "--extension", "sql") == (0, "dyn.ah62d4rv4ge81g6pq\n"))
        #expect(
            try types("lookup", "--extension", "rtfd", "--conforming-to", "com.apple.package")
                == (0, "com.apple.rtfd\n"))
        #expect(try types("lookup", "--extension", ".jpg") == (0, "public.jpeg\n"))
        #expect(try types("lookup", "--extension", "x", "--mime", "text/x").status == 64)
        #expect(try types("lookup", "--ostype", "PICT") == (0, "com.apple.pict\n"))
        #expect(try types("lookup", "--ostype", "0x50494354") == (0, "com.apple.pict\n"))
        #expect(try types("lookup", "--ostype", "MP3", "--conforming-to", "any") == (0, "dyn.agk8y4ybxaa\n"))
        #expect(try types("lookup", "--ostype", "0x4D503300", "--conforming-to", "any") == (0, "dyn.agk8y4ybxaa\n"))
        #expect(try types("lookup", "--ostype", "toolong").status == 2)
        #expect(
            try types("lookup", "--stdin", input: "ostype\tPICT\nextension\t.png\n") == (
                0, "com.apple.pict\npublic.png\n"
            ))
        #expect(try types("lookup", "--extension", "x", "--conforming-to", "com.example.nobody").status == 2)
        let (status, output) = try types(
            "lookup", "--stdin", input: "extension\tpng\nmime\tapplication/pdf\nextension\tapp\tany\n")
        #expect(status == 0)
        #expect(output == "public.png\ncom.adobe.pdf\ncom.apple.application-bundle\n")
    }

    @Test("looks up a word as an identifier, a MIME type or an extension")
    func word() throws {
        for (word, type) in [
            ("html", "public.html"), (".JPG", "public.jpeg"), ("text/html", "public.html"),
            ("public.html", "public.html"), ("sql", "dyn.ah62d4rv4ge81g6pq"),
        ] {
            #expect(try types("lookup", word) == (0, type + "\n"), "\(word)")
        }
        #expect(try types("lookup", "rtfd", "--conforming-to", "com.apple.package") == (0, "com.apple.rtfd\n"))
        for word in ["notes.rst", "public.htlm"] {
            let (status, output) = try types("lookup", word)
            let tag = word.split(separator: ".")[1]
            #expect(status == 2 && output.contains("searchlight types lookup --extension \(tag)"), "\(output)")
        }
        #expect(try types("lookup", "html", "--mime", "text/html").status == 64)
        #expect(try types("lookup", "public.html", "--conforming-to", "any") == (0, "public.html\n"))
        #expect(try types("lookup", "public.html", "--conforming-to", "public.text") == (0, "public.html\n"))
        let unrelated = try types("lookup", "public.html", "--conforming-to", "public.image")
        #expect(unrelated.status == 2 && unrelated.output.contains("does not conform to public.image"), "\(unrelated)")
        #expect(try types("lookup", "application/vnd.example.unknown").output.hasPrefix("dyn."))
        for path in ["docs/notes.pdf", "/etc/hosts", "./a", "~/a.txt", "a/b/c"] {
            let (status, output) = try types("lookup", path)
            #expect(status == 2 && output.contains("searchlight types of \(path)"), "\(output)")
        }
        let none = try types("lookup")
        #expect(none.status == 64 && none.output.contains("Pass a word, such as pdf"), "\(none.output)")
    }

    @Test("decodes dynamic identifiers, and rejects others")
    func decode() throws {
        let (status, output) = try types("decode", "dyn.ah62d4rv4ge81g6pq")
        #expect(status == 0)
        #expect(output.hasPrefix("?0=6:1=sql\n"))
        #expect(try types("decode", "dyn.ii").status == 1)
        #expect(try types("decode", "public.html").status == 1)
    }

    @Test("prints the types of files")
    func ofFiles() throws {
        let path = harness.folder + "/page.html"
        try Data("x".utf8).write(to: URL(filePath: path))
        let (status, output) = try types("of", path, harness.folder, path + ".missing")
        #expect(status == 2)
        #expect(output.contains("\(path): public.html\n"))
        #expect(output.contains("\(harness.folder): public.folder\n"))
        #expect(output.contains("there is no such file"))
    }

    @Test("knows the types that extensions declare, and reports errors in declarations")
    func declaredByExtensions() throws {
        let declarations: [[String: Any]] = [
            [
                "UTTypeIdentifier": "com.example.sheet", "UTTypeConformsTo": ["public.plain-text"],
                "UTTypeDescription": "Sheet of paper",
                "UTTypeTagSpecification": ["public.filename-extension": ["sheetx"]],
            ],
            ["UTTypeIdentifier": "public.mine", "UTTypeConformsTo": ["public.data"]],
        ]
        try harness.install(
            "com.example.sheets", library: try CFixture.library("notebook"),
            manifest: ["UTExportedTypeDeclarations": declarations])
        #expect(try types("conforms", "com.example.sheet", "public.text") == (0, "true\n"))
        #expect(try types("lookup", "--extension", "sheetx") == (0, "com.example.sheet\n"))
        let (status, output) = try types("show", "com.example.sheet", "--json")
        #expect(status == 0)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        #expect(report["description"] as? String == "Sheet of paper")
        #expect(report["declaration"] as? String == "exported")
        let listing = try CFixture.run(
            try BuiltProducts.program("searchlight"), ["extensions", "--extensions", harness.extensions],
            environment: ["HOME": harness.folder])
        #expect(listing.status == 0)
        #expect(listing.output.contains("public.mine"))
    }

    @Test("prints the hierarchy below a type")
    func tree() throws {
        let (status, output) = try types("tree", "public.font")
        #expect(status == 0)
        #expect(output.hasPrefix("public.font\n"))
        #expect(output.contains("\n  public.opentype-font\n"))
        #expect(try types("tree", "com.example.nobody").status == 2)
    }

    private func declare(_ conformances: [(String, [String])]) throws {
        try harness.install(
            "com.example.deep", library: try CFixture.library("notebook"),
            manifest: [
                "UTExportedTypeDeclarations": conformances.map {
                    ["UTTypeIdentifier": "com.example.deep.\($0.0)", "UTTypeConformsTo": $0.1]
                }
            ])
    }

    @Test("prints each type once, with any number of paths to it")
    func treeOfDiamonds() throws {
        // Each level doubles the number of paths: 2^60 in total.
        var declared: [(String, [String])] = [("top", ["public.data"])]
        var below = ["com.example.deep.top"]
        for level in 0..<60 {
            declared += [("a\(level)", below), ("b\(level)", below)]
            below = ["com.example.deep.a\(level)", "com.example.deep.b\(level)"]
        }
        try declare(declared)
        let (status, output) = try types("tree", "com.example.deep.top")
        #expect(status == 0)
        let lines = output.split(separator: "\n")
        #expect(lines.count < 250)
        #expect(lines.contains { $0.hasSuffix("com.example.deep.b58 … above") })
        #expect(lines.count { $0.hasSuffix(" … above") } == 2 * 58)
        let json = try types("tree", "com.example.deep.top", "--json")
        #expect(json.status == 0)
        #expect(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) is [Any])
    }

    @Test("leaves out types that are too deep, and reports it")
    func deepTree() throws {
        try declare((0..<1000).map { ("t\($0)", [$0 == 0 ? "public.data" : "com.example.deep.t\($0 - 1)"]) })
        let (status, output) = try types("tree", "com.example.deep.t0")
        #expect(status == 0)
        #expect(output.contains("com.example.deep.t100 …\n"))
        #expect(output.contains("not all of it is shown"))
        #expect(!output.contains("com.example.deep.t101"))
        let json = try types("tree", "com.example.deep.t0", "--json")
        #expect(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) is [Any])
        #expect(json.output.contains("\"cut\" : true"))
    }

    @Test("reports failures as JSON when asked for JSON")
    func failureJSON() throws {
        let failures: [([String], Int)] = [
            (["decode", "public.html"], 1), (["show", "com.example.nobody"], 2), (["tree", "com.example.nobody"], 2),
            (["lookup", "--extension", "x", "--conforming-to", "com.example.nobody"], 2),
        ]
        for (arguments, expected) in failures {
            let (status, output) = try CFixture.run(
                try BuiltProducts.program("searchlight"), ["types"] + arguments + ["--json"],
                environment: ["HOME": harness.folder])
            #expect(Int(status) == expected)
            let report = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
            #expect(report["status"] as? Int == expected)
            #expect((report["error"] as? String)?.isEmpty == false)
        }
    }
}
