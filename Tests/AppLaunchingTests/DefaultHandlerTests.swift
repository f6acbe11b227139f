// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UniformTypeIdentifiers

@testable import AppLaunching

@Suite("Default apps")
struct DefaultHandlerTests {
    private func handlers(_ desktop: Desktop) -> DefaultHandlers {
        DefaultHandlers(
            DesktopEntries(environment: desktop.environment),
            SharedMIMEInfo(roots: SharedMIMEInfo.standardRoots(environment: desktop.environment)),
            environment: desktop.environment)
    }

    private static let gio = "/usr/bin/gio"

    /// Returns the default app according to GIO's own tool.
    private func oracle(_ type: String, _ desktop: Desktop) throws -> String? {
        let (_, output) = try ChildProcess.run(
            Self.gio, ["mime", type], environment: desktop.environment.merging(["LC_ALL": "C"]) { $1 })
        // Other lines are warnings.
        let lines = output.split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("Default application for") }) else { return nil }
        return line.split(separator: " ").last.map(String.init)
    }

    private static let types = [
        "text/plain", "text/x-csrc", "text/x-c++src", "application/xml", "image/svg+xml", "image/png",
        "x-scheme-handler/https", "application/x-none",
        // Aliases of types above.
        "text/xml", "image/svg", "text/x-c",
    ]

    @Test(
        "Random lists of default apps give the app that GIO chooses",
        .enabled(if: FileManager.default.isExecutableFile(atPath: gio)), arguments: 0..<60 as Range<UInt64>)
    func sameAsGIO(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var desktop = try Desktop()
        if random.below(3) == 0 { desktop.variables["XDG_CURRENT_DESKTOP"] = "Odd:KDE" }
        try desktop.addProgram("run")
        let names = (0..<6).map { "app\($0).desktop" }
        for name in names where random.below(4) > 0 {
            let extra = random.pick(["", "TryExec=nothing-here", "NoDisplay=true", ""])
            try desktop.addEntry(name, in: random.pick(["data", "shared"]), "Exec=run %u", extra)
        }
        func list(_ groups: [String]) -> String {
            var text = ""
            for group in groups where random.below(2) == 0 {
                text += "[\(group)]\n"
                for type in Self.types where random.below(3) == 0 {
                    let chosen = (0..<1 + random.below(3)).map { _ in random.pick(names) }
                    text +=
                        type + random.pick(["=", " = "]) + chosen.joined(separator: ";") + random.pick([";", ""]) + "\n"
                }
            }
            return text
        }
        let groups = ["Default Applications", "Added Associations", "Removed Associations"]
        for place in ["config", "etc", "data/applications", "shared/applications"] {
            for name in ["mimeapps.list", "kde-mimeapps.list"] where random.below(2) == 0 {
                try desktop.write(list(groups), to: "\(place)/\(name)")
            }
        }
        for place in ["data", "shared"] {
            // The cache lists only apps of its folder.
            let folder = desktop.folder.path("\(place)/applications")
            let present = try FileManager.default.contentsOfDirectory(atPath: folder).filter(names.contains).sorted()
            guard !present.isEmpty else { continue }
            var text = "[MIME Cache]\n"
            for type in Self.types where random.below(2) == 0 { text += "\(type)=\(random.pick(present));\n" }
            try desktop.write(text, to: "\(place)/applications/mimeinfo.cache")
        }
        let handlers = handlers(desktop)
        for type in Self.types {
            let chosen = handlers.handler(ofType: type)?.entry.identifier
            let expected = try oracle(type, desktop)
            #expect(chosen == expected, "\(type)")
        }
    }

    @Test("A hidden entry counts as deleted, in all folders after its own")
    func hidden() throws {
        let desktop = try Desktop()
        try desktop.addProgram("run")
        try desktop.addEntry("a.desktop", in: "shared", "Exec=run %f")
        try desktop.write("[MIME Cache]\nimage/png=a.desktop;\n", to: "shared/applications/mimeinfo.cache")
        #expect(handlers(desktop).handler(ofType: "image/png") != nil)
        try desktop.addEntry("a.desktop", "Exec=run %f", "Hidden=true")
        #expect(handlers(desktop).handler(ofType: "image/png") == nil)
    }

    @Test("A type without an app is opened by the app of its supertype")
    func supertypes() throws {
        let desktop = try Desktop()
        try desktop.addProgram("run")
        try desktop.addEntry("edit.desktop", "Exec=run %f")
        try desktop.write("[Default Applications]\ntext/plain=edit.desktop\n", to: "config/mimeapps.list")
        let found = handlers(desktop).handler(ofType: "text/x-csrc")
        #expect(found?.entry.identifier == "edit.desktop")
        #expect(found?.type == "text/plain")
        #expect(handlers(desktop).handler(ofType: "image/png") == nil)
    }

    @Test("The type of a file comes from its name, then from its content, then from the item")
    func fileTypes() throws {
        let desktop = try Desktop()
        let handlers = handlers(desktop)
        for (name, content, expected) in [
            ("a.html", "x", "text/html"), ("b", "%PDF-1.5", "application/pdf"), ("c", "plain", "text/plain"),
            ("d", "\0\u{1}", "application/octet-stream"),
        ] {
            try desktop.write(content, to: name)
            #expect(handlers.type(of: .file(desktop.folder.path(name)), contentType: nil) == expected)
        }
        #expect(handlers.type(of: .file(desktop.folder.path), contentType: nil) == "inode/directory")
        #expect(handlers.type(of: .url("HTTPS://x"), contentType: nil) == "x-scheme-handler/https")
        #expect(handlers.type(of: .file(desktop.folder.path("d")), contentType: "public.jpeg") == "image/jpeg")
    }
}
