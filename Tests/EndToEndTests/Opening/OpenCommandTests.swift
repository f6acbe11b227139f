// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("The command open", .timeLimit(.minutes(10)))
struct OpenCommandTests {
    private let command: Command

    init() throws {
        command = Command(harness: try Harness())
        try FileManager.default.createDirectory(
            atPath: command.harness.folder + "/data/applications", withIntermediateDirectories: true)
    }

    private var log: String { command.harness.folder + "/log" }

    /// The lines of the log: the names and arguments of the started apps.
    private var started: [String] {
        ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    private func donate(_ bundle: String, _ identifier: String, _ attributes: String) throws {
        let line = #"{"uniqueIdentifier": "\#(identifier)", "attributes": {"title": "Title", \#(attributes)}}"#
        let (status, output) = try CFixture.run(
            try BuiltProducts.program("searchlight"), ["donate", "--bundle", bundle, "-"],
            environment: try command.environment, input: line)
        #expect(status == 0, "\(output)")
    }

    /// Adds an app that writes its arguments to the log.
    private func addApp(_ name: String, then body: String = "exit 0", lines: String = "") throws {
        let program = command.harness.folder + "/\(name)"
        try "#!/bin/sh\n{ printf '%s' \(name); printf '\\t%s' \"$@\"; echo; } >> '\(log)'\n\(body)\n"
            .write(toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        try "[Desktop Entry]\nType=Application\nName=App \(name)\nExec=\(program) %u\n\(lines)\n".write(
            toFile: command.harness.folder + "/data/applications/\(name).desktop", atomically: true, encoding: .utf8)
    }

    @Test("An item is opened in its own app, and the words that found it are counted")
    func ownApp() throws {
        try donate("org.example.notes", "one", #""url": "note:1""#)
        try addApp("org.example.notes")
        let (status, output) = try command("open", "one", "--query", "tit")
        #expect(status == 0 && output == "Opened “Title” in App org.example.notes.\n", "\(output)")
        #expect(started == ["org.example.notes\tnote:1"])
        let report = try #require(try command.json("open", "one") as? [String: Any])
        #expect(report["outcome"] as? String == "finished")
        #expect(report["way"] as? String == "desktopEntry" && report["delivery"] as? String == "url")
        #expect(report["entry"] as? String == "org.example.notes.desktop")
    }

    @Test("A dry run shows the way and the reasons, and starts nothing")
    func dryRun() throws {
        try donate("org.example.notes", "one", #""url": "note:1""#)
        try addApp("default", lines: "MimeType=x-scheme-handler/note;")
        try "[Default Applications]\nx-scheme-handler/note=default.desktop\n".write(
            toFile: command.harness.folder + "/config/mimeapps.list", atomically: true, encoding: .utf8)
        let report = try #require(try command.json("open", "one", "--dry-run") as? [String: Any])
        #expect(report["way"] as? String == "defaultHandler")
        #expect((report["command"] as? [String])?.last == "note:1")
        let others = try #require(report["passedOver"] as? [[String: String]])
        #expect(others.map { $0["way"] } == ["runningApp", "desktopEntry"])
        #expect(others.last?["reason"] == "there is no desktop entry org.example.notes.desktop")
        let (status, output) = try command("open", "one", "--dry-run")
        #expect(
            status == 0 && output.contains("default.desktop is the default app for x-scheme-handler/note"), "\(output)")
        #expect(started.isEmpty)
    }

    @Test("A quick action starts the default app of its URL scheme, and not the item's own app")
    func quickActions() throws {
        try donate(
            "org.example.notes", "anna",
            #""supportsPhoneCall": true, "phoneNumbers": ["+47 12 34"], "supportsNavigation": true, "latitude": 59.5, "longitude": 10"#
        )
        try donate("org.example.notes", "plain", #""phoneNumbers": ["123"]"#)
        try addApp("org.example.notes")
        let none = try command("open", "anna", "--action", "call")
        #expect(none.status == 3, "\(none)")
        #expect(none.output.contains("“Title”: no installed app opens x-scheme-handler/tel."), "\(none)")
        try addApp("phone", lines: "MimeType=x-scheme-handler/tel;")
        try addApp("map", lines: "MimeType=x-scheme-handler/geo;")
        for (action, scheme, app, argument) in [
            ("call", "tel", "phone", "tel:+471234"), ("navigate", "geo", "map", "geo:59.500000,10.000000"),
        ] {
            try "[Default Applications]\nx-scheme-handler/\(scheme)=\(app).desktop\n".write(
                toFile: command.harness.folder + "/config/mimeapps.list", atomically: true, encoding: .utf8)
            let (status, output) = try command("open", "anna", "--action", action)
            #expect(status == 0 && output == "Opened “Title” in App \(app).\n", "\(output)")
            #expect(started.last == "\(app)\t\(argument)")
        }
        let refused = try command("open", "plain", "--action", "call")
        #expect(
            refused.status == 4
                && refused.output.contains("to perform the action call: “Title” does not offer this action"),
            "\(refused)")
        #expect(try command("open", "anna", "--action", "fax").status == 64)
        #expect(started.count == 2)
    }

    @Test("Each failure has its outcome and exit status")
    func failures() throws {
        try donate("org.example.none", "none", #""url": "odd:1""#)
        try donate("org.example.gone", "gone", #""contentURL": "file:///nowhere/at/all""#)
        try donate("org.example.crash", "crash", #""url": "odd:1""#)
        try addApp("org.example.crash", then: "exit 9")
        for (item, status, outcome) in [("none", 3, "noApp"), ("gone", 2, "missingFile"), ("crash", 7, "crashed")] {
            let report = try #require(
                try command.json("open", item, expecting: Int32(status)) as? [String: Any], "\(item)")
            #expect(report["outcome"] as? String == outcome, "\(report)")
            #expect(report["status"] as? Int == status)
            #expect(try command("open", item).status == Int32(status))
        }
        #expect(try command("open", "missing").status == 2)
        #expect(try command("open", "none", "--index", "").status == 64)
        #expect(try command("continue", "org.example.crash", "two", "words").status == 3)
        #expect(try command("continue", "org.example.crash", " ").status == 64)
        let unknown = try command("continue", "org.example.nobody", "words")
        #expect(
            unknown.status == 2 && unknown.output.contains("and no extension. “searchlight extensions”"), "\(unknown)")
        // No default app can be chosen for an item without a file or URL.
        try donate("org.example.none", "plain", #""rating": 1"#)
        let plain = try command("open", "plain")
        #expect(plain.status == 3 && plain.output.hasSuffix("To see the item: searchlight preview plain\n"), "\(plain)")
        #expect(try command("open", "none").output.contains("xdg-mime default APP.desktop x-scheme-handler/odd"))
        #expect(started == ["org.example.crash\todd:1", "org.example.crash\todd:1"])
    }

    @Test("An item that has only a path opens the file there, or its failure says why not")
    func pathOnly() throws {
        let folder = command.harness.folder
        try "text".write(toFile: folder + "/a.txt", atomically: true, encoding: .utf8)
        try addApp("editor", lines: "MimeType=text/plain;")
        try "[Default Applications]\ntext/plain=editor.desktop\n".write(
            toFile: folder + "/config/mimeapps.list", atomically: true, encoding: .utf8)
        try donate("org.example.notes", "good", #""path": "\#(folder)/a.txt""#)
        try donate("org.example.notes", "gone", #""path": "\#(folder)/b.txt""#)
        try donate("org.example.notes", "relative", #""path": "a.txt""#)
        let good = try command("open", "good")
        #expect(good.status == 0, "\(good)")
        #expect(started.count == 1 && started.first?.hasSuffix("/a.txt") == true, "\(started)")
        let gone = try command("open", "gone")
        #expect(gone.status == 2 && gone.output.contains("its file \(folder)/b.txt does not exist"), "\(gone)")
        let relative = try command("open", "relative")
        #expect(relative.output.contains("a.txt is not a path of a file"), "\(relative)")
        try donate("org.example.notes", "both", #""path": "\#(folder)/a.txt", "url": "odd:1""#)
        #expect(try command("open", "both", "--dry-run").output.contains("x-scheme-handler/odd"))
    }

    @Test("A file of an extension's item is opened only if the extension may read it")
    func extensionFiles() throws {
        let folder = command.harness.folder
        try command.harness.install(
            "com.example.notebook", library: try CFixture.library("notebook"),
            manifest: ["Searchlight": ["ReadablePaths": ["$HOME/Documents/marks"], "DesktopEntry": "notebook.desktop"]])
        for path in ["Documents/marks/a.txt", "secret.txt"] {
            try "text".write(toFile: folder + "/" + path, atomically: true, encoding: .utf8)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/Documents/marks/link.txt", withDestinationPath: folder + "/secret.txt")
        try donate("com.example.notebook", "good", #""contentURL": "file://\#(folder)/Documents/marks/a.txt""#)
        try donate("com.example.notebook", "bad", #""contentURL": "file://\#(folder)/secret.txt""#)
        try donate("com.example.notebook", "link", #""contentURL": "file://\#(folder)/Documents/marks/link.txt""#)
        try donate(
            "com.example.notebook", "dots", #""contentURL": "file://\#(folder)/Documents/marks/../../secret.txt""#)
        try addApp("editor", lines: "MimeType=text/plain;")
        try "[Default Applications]\ntext/plain=editor.desktop\n".write(
            toFile: folder + "/config/mimeapps.list", atomically: true, encoding: .utf8)
        for item in ["bad", "link", "dots"] {
            let (status, output) = try command("open", item)
            #expect(status == 4 && output.contains("com.example.notebook may not read its file"), "\(item): \(output)")
        }
        let (status, output) = try command("open", "good")
        #expect(status == 0, "\(output)")
        #expect(started.count == 1 && started.first?.hasSuffix("/Documents/marks/a.txt") == true, "\(started)")
    }
}
