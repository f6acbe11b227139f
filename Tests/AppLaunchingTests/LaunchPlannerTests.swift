// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import AppLaunching

@Suite("Ways to open an item")
struct LaunchPlannerTests {
    private let desktop: Desktop

    init() throws {
        desktop = try Desktop()
        for name in ["notes", "browser", "editor"] { try desktop.addProgram(name) }
    }

    private func kind(_ target: LaunchTarget) -> LaunchError.Kind? {
        do {
            _ = try desktop.plan(target)
            return nil
        } catch { return (error as? LaunchError)?.kind }
    }

    private func makeBrowser() throws {
        try desktop.addEntry("browser.desktop", "Exec=browser %u", "MimeType=x-scheme-handler/https;")
        try desktop.write(
            "[Default Applications]\nx-scheme-handler/https=browser.desktop\ntext/plain=editor.desktop\n",
            to: "config/mimeapps.list")
    }

    @Test("An identifier finds entries in the folders of entries and nowhere else")
    func identifiers() throws {
        let desktop = try Desktop()
        for name in ["kde", "a"] {
            try FileManager.default.createDirectory(
                atPath: desktop.folder.path("data/applications/\(name)"), withIntermediateDirectories: true)
        }
        try desktop.addEntry("kde/notes.desktop", "Exec=true")
        try desktop.write("[Desktop Entry]\nType=Application\nName=x\nExec=true\n", to: "data/x.desktop")
        let entries = DesktopEntries(environment: desktop.environment)
        #expect(entries.read("kde-notes.desktop") != nil)
        #expect(entries.read("a-..-..-x.desktop") == nil)
    }

    @Test("The bus takes precedence over the command, and the app over the default app")
    func order() throws {
        try makeBrowser()
        let target = desktop.target(.url("https://example.org/"))
        #expect(try desktop.plan(target).way == .defaultHandler)
        try desktop.addEntry("org.example.notes.desktop", "Exec=notes %u")
        var plan = try desktop.plan(target)
        #expect(plan.way == .desktopEntry && plan.bus == nil && plan.delivery == .url)
        #expect(plan.command?.words == ["notes", "https://example.org/"])
        #expect(plan.command?.program == desktop.folder.path("bin/notes"))
        try desktop.addEntry("org.example.notes.desktop", "Exec=notes %u", "DBusActivatable=true")
        plan = try desktop.plan(target)
        #expect(plan.way == .busActivation)
        #expect(plan.bus == .init(name: "org.example.notes", uris: ["https://example.org/"]))
        #expect(plan.command != nil)
    }

    @Test("An app that does not accept URLs is skipped, with the reason")
    func passedOver() throws {
        try makeBrowser()
        try desktop.addEntry("org.example.notes.desktop", "Exec=notes")
        let plan = try desktop.plan(desktop.target(.url("https://example.org/")))
        #expect(plan.way == .defaultHandler && plan.entry == "browser.desktop")
        #expect(plan.passedOver.map(\.way) == [.runningApp, .desktopEntry])
        #expect(
            plan.passedOver.last?.reason.hasSuffix("its command line does not accept a URL") == true,
            "\(plan.passedOver)")
        #expect(plan.reason == "browser.desktop is the default app for x-scheme-handler/https")
    }

    @Test("An app of another bundle only gets types that its entry declares")
    func strangers() throws {
        try makeBrowser()
        try desktop.addEntry("interpreter.desktop", "Exec=notes %f")
        try desktop.write("x", to: "evil.txt")
        try desktop.addEntry("editor.desktop", "Exec=editor %f")
        let file = LaunchResource.file(desktop.folder.path("evil.txt"))
        var plan = try desktop.plan(desktop.target(file, entry: "interpreter.desktop", owns: false))
        #expect(plan.entry == "editor.desktop")
        try desktop.addEntry("interpreter.desktop", "Exec=notes %f", "MimeType=text/plain;")
        plan = try desktop.plan(desktop.target(file, entry: "interpreter.desktop", owns: false))
        #expect(plan.entry == "interpreter.desktop")
    }

    @Test("An item with nothing to open starts its app; without an app the failure gives the reason")
    func nothing() throws {
        #expect(kind(desktop.target()) == .noApp)
        #expect(kind(desktop.target(.url("gopher://x"))) == .noApp)
        #expect(kind(desktop.target(refusal: .missing("/gone"))) == .missingFile)
        #expect(kind(desktop.target(refusal: .notReadable("/etc/shadow", bundle: "b"))) == .refused)
        try desktop.addEntry("org.example.notes.desktop", "Exec=notes %u")
        let plan = try desktop.plan(desktop.target())
        #expect(plan.delivery == .nothing && plan.command?.words == ["notes"])
    }

    @Test("An app that continues activities is started if a service can keep the activity")
    func continuation() throws {
        try desktop.addEntry("org.example.notes.desktop", "Exec=notes %u")
        var target = desktop.target(.url("note:1"))
        target.continues = true
        #expect(try desktop.plan(target).delivery == .url)
        target.canHold = true
        var plan = try desktop.plan(target)
        #expect(plan.delivery == .activity && plan.command?.words == ["notes"])
        target.hasHandler = true
        plan = try desktop.plan(target)
        #expect(plan.way == .runningApp && plan.command == nil)
        (target.hasHandler, target.activity) = (false, .search("words"))
        #expect(try desktop.plan(target).delivery == .activity)
        target.continues = false
        #expect(kind(target) == .noApp)
    }

    @Test("A file for a Flatpak goes through its command, which uses the document portal")
    func flatpak() throws {
        try desktop.addProgram("flatpak")
        try desktop.addEntry(
            "org.example.notes.desktop", "Exec=flatpak run --file-forwarding org.example.notes @@u %U @@",
            "DBusActivatable=true", "X-Flatpak=org.example.notes")
        let plan = try desktop.plan(desktop.target(.file(desktop.folder.path)))
        #expect(plan.bus == nil)
        #expect(
            plan.command?.words == [
                "flatpak", "run", "--file-forwarding", "org.example.notes", "@@u", "file://" + desktop.folder.path,
                "@@",
            ])
        #expect(try desktop.plan(desktop.target(.url("note:1"))).bus?.uris == ["note:1"])
    }

    @Test("An app for terminals gets a terminal")
    func terminal() throws {
        try desktop.addEntry("org.example.notes.desktop", "Exec=notes %f", "Terminal=true")
        try desktop.addProgram("xdg-terminal-exec")
        let plan = try desktop.plan(desktop.target(.file(desktop.folder.path)))
        #expect(plan.command?.words == ["xdg-terminal-exec", "notes", desktop.folder.path])
    }

    @Test(
        "A hostile entry is rejected with a reason and starts nothing",
        arguments: [
            "Exec=", "Exec=./notes %u", "Exec=../bin/notes %u", "Exec=missing-program %u", "Exec=notes 'x",
            "Exec=notes %x",
            "Exec=notes %u\nHidden=true", "Exec=notes %u\nTryExec=missing", "Exec=notes %u\nType=Link",
            "Exec=/ %u", "Exec=/etc %u", "Exec=\"\" %u", "Name=x",
            "Exec=notes %u\nDBusActivatable=true\nType=Directory",
        ])
    func hostileEntries(_ lines: String) throws {
        try desktop.addEntry("org.example.notes.desktop", lines)
        let failure = kind(desktop.target(.url("x-odd:y")))
        #expect(failure == .noApp, "\(lines)")
    }

    @Test(
        "A hostile name of an entry does not lead to a file",
        arguments: [
            "../x.desktop", "/etc/x.desktop", ".desktop", "x", "", "x\0.desktop", "a/b.desktop", "..-..-x.desktop",
            "-x.desktop",
            String(repeating: "x", count: 300) + ".desktop",
        ])
    func hostileNames(_ name: String) throws {
        try desktop.write("[Desktop Entry]\nType=Application\nName=x\nExec=notes\n", to: "x.desktop")
        #expect(kind(desktop.target(entry: name)) == .noApp)
    }

    @Test("The name of an app is in the user's language")
    func names() throws {
        try desktop.addEntry("a.desktop", "Exec=notes", "Name[de]=Notizen", "Name[de_AT]=Zettel")
        let entry = try #require(DesktopEntries(environment: desktop.environment).read("a.desktop"))
        #expect(entry.name(in: "de_DE.UTF-8") == "Notizen")
        #expect(entry.name(in: "de_AT@euro") == "Zettel")
        #expect(entry.name(in: "C") == "a.desktop")
    }

    @Test("The name of an entry in a subfolder has a dash")
    func subfolders() throws {
        try FileManager.default.createDirectory(
            atPath: desktop.folder.path("data/applications/kde"), withIntermediateDirectories: true)
        try desktop.addEntry("kde/a.desktop", "Exec=notes")
        #expect(DesktopEntries(environment: desktop.environment).read("kde-a.desktop") != nil)
        #expect(DesktopEntries(environment: desktop.environment).read("kde-b.desktop") == nil)
    }
}
