// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import Glibc
import ItemRecord
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightService

@Suite("GNOME Shell's search", .enabled(if: PrivateBus.isAvailable), .timeLimit(.minutes(10)))
struct ShellSearchTests {
    @Test("A word typed letter by letter narrows the rows, which have titles, passages and icons")
    func typing() async throws {
        let world = try await DesktopWorld()
        let text = "Once upon a time a <quartz> & a clock"
        try await world.donate(
            ["Quartz <i>clock</i>", "Quarry"],
            attributes: ["textContent": .string(text), "contentType": .string("public.png")])
        try await world.donate((1...30).map { "Query \($0)" }, from: "com.example.mail")
        let shell = try await FakeShell(world.bus)
        try await shell.type("qu")
        #expect(await shell.rows.count == 5)
        #expect(await shell.moreCount == 15)
        for typed in ["qua", "quar", "quart", "quartz"] {
            try await shell.type(typed)
            let names = await Set(shell.rows.map(\.name))
            let current = try await world.found(typed)
            #expect(!names.isEmpty && names.isSubset(of: current), "\(typed)")
        }
        let row = try #require(await shell.rows.first)
        // The shell treats the title as plain text, and escapes the description.
        #expect(row.name == "Quartz <i>clock</i>")
        #expect(row.markup.contains("&lt;") && row.markup.contains("&amp;") && !row.markup.contains("<q"))
        #expect(row.icon.first?.text == "themed" && row.icon.last?.members.last?.text == "image-x-generic")
        #expect(await shell.called.contains("GetSubsearchResultSet"))
        try await shell.type("")
        #expect(await shell.rows.isEmpty)
        await world.service.stop()
    }

    @Test("A row repeats no title, and says what an item without other text is")
    func descriptions() async throws {
        let world = try await DesktopWorld()
        let file = AttributeValue.url("file:///plans/pier.pdf")
        try await world.donate(
            ["Pier plan"], attributes: ["contentType": .string("com.adobe.pdf"), "contentURL": file])
        try await world.donate(["Pier page"], attributes: ["url": .url("https://pier.example/"), "contentType": .null])
        try await world.donate(["Pier three"], attributes: ["textContent": .string("Pier three\n")])
        try await world.donate(["Pier four"], attributes: ["textContent": .string("Pier four\n\nThe ferry leaves.")])
        let shell = try await FakeShell(world.bus)
        try await shell.type("pier")
        // The shell marks the typed words.
        let texts = await Dictionary(
            uniqueKeysWithValues: shell.rows.map { ($0.name, $0.markup.replacing(/<\/?b>/, with: "")) })
        let app = "com.example.notes"
        #expect(texts["Pier plan"] == "\(app) · PDF document · /plans/pier.pdf")
        #expect(texts["Pier page"] == "\(app) · https://pier.example/" && texts["Pier three"] == app)
        #expect(texts["Pier four"] == "\(app) · The ferry leaves.")
        let runner = try await RunnerTests.FakeRunner(world.bus)
        try await runner.type("pier")
        let details = await Dictionary(
            uniqueKeysWithValues: runner.matches.map { ($0.text, $0.properties["subtext"]?.text) })
        #expect(details["Pier plan"] == "PDF document · /plans/pier.pdf" && details["Pier three"] == "")
        #expect(details["Pier page"] == "https://pier.example/" && details["Pier four"] == "The ferry leaves.")
        await world.service.stop()
    }

    @Test("A thumbnail takes the place of the icon, unless it is too large")
    func thumbnails() async throws {
        let world = try await DesktopWorld()
        let png: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0]
        try await world.donate(["Small picture"], attributes: ["thumbnailData": .data(png)])
        try await world.donate(
            ["Large picture"], attributes: ["thumbnailData": .data(png + [UInt8](repeating: 0, count: 1 << 20))])
        try await world.donate(["No picture"], attributes: ["thumbnailData": .data(Array("GIF87".utf8))])
        let shell = try await FakeShell(world.bus)
        try await shell.type("picture")
        let icons = await Dictionary(uniqueKeysWithValues: shell.rows.map { ($0.name, $0.icon) })
        #expect(icons["Small picture"]?.first?.text == "bytes")
        #expect(icons["Small picture"]?.last?.members == png.map { .unsigned(UInt64($0)) })
        #expect(icons["Large picture"]?.first?.text == "themed" && icons["No picture"]?.first?.text == "themed")
        await world.service.stop()
    }

    @Test("An app that is switched off is neither found, described nor opened, and the others fill the rows")
    func switches() async throws {
        let world = try await DesktopWorld()
        try await world.donate(["Diary of May", "Diary of June"], from: "com.example.diary")
        try await world.donate((1...25).map { "Diary page \($0)" })
        // A word that occurs in nearly every item is not a match on its own.
        try await world.donate((1...60).map { "Plot \($0)" })
        try world.install("com.example.diary")
        let shell = try await FakeShell(world.bus)
        try await shell.search("diary of")
        let before = try await shell.metas(["item:1", "item:2"])
        #expect(before.compactMap { $0["name"]?.text } == ["Diary of May", "Diary of June"])
        try await world.set("com.example.diary", isShown: false)
        // These items were found before the app was switched off.
        let after = try await shell.metas(["item:1", "item:2"])
        #expect(after.compactMap { $0["id"]?.text } == ["item:1", "item:2"])
        #expect(!"\(after)".contains("Diary") && !"\(after)".contains("diary"))
        let refused = await refusal { try await shell.activate("item:1") }
        #expect(refused?.hasSuffix("NotFound") == true && world.log.isEmpty)
        let fresh = try await FakeShell(world.bus)
        for typed in ["d", "diary", "diary of", "diary of may"] {
            try await fresh.type(typed)
            let rows = await fresh.rows
            #expect(!rows.isEmpty && rows.allSatisfy { $0.name.hasPrefix("Diary page") }, "\(typed)")
        }
        #expect(try await world.found("diary of may").contains("Diary of May"))
        try await world.set("com.example.diary", isShown: true)
        try await fresh.type("")
        try await fresh.type("diary of may")
        #expect(await fresh.rows.first?.name == "Diary of May")
        await world.service.stop()
    }

    @Test("Items that disappear after the search leave the other rows in place")
    func gone() async throws {
        let world = try await DesktopWorld()
        try await world.donate(["Fern one", "Fern two", "Fern three"])
        let shell = try await FakeShell(world.bus)
        try await shell.search("fern")
        try await world.delete("Fern two")
        try await shell.show()
        let names = await shell.rows.map(\.name)
        #expect(names.count == 3 && Set(names).isSuperset(of: ["Fern one", "Fern three"]))
        #expect(!names.contains("Fern two"))
        await world.service.stop()
    }

    @Test("Identifiers and texts that no shell sends are refused or ignored, and the next search works")
    func hostile() async throws {
        let world = try await DesktopWorld()
        try await world.donate(["Elm"])
        let shell = try await FakeShell(world.bus)
        let odd = [
            "", "item:0", "item:-1", "item:01", "special:x", "/etc/passwd", String(repeating: "i", count: 100_000),
        ]
        #expect(try await shell.metas(odd).isEmpty)
        #expect(try await shell.metas((1...5000).map { "item:\($0)" }).count == 100)
        for identifier in odd + ["item:999"] {
            let refused = await refusal { try await shell.activate(identifier) }
            #expect(refused?.hasSuffix("NotFound") == true, "\(identifier.prefix(20))")
        }
        let client = try await BusTestClient(world.bus)
        let words = (0..<20_000).map { "w\($0)" }
        let subsearch = BusMember(ShellSearchRequest.interface, "GetSubsearchResultSet")
        guard case .strings(let none)? = try await client.call(subsearch, [.strings(odd), .strings(words)]).first else {
            throw BusError.malformed("no results")
        }
        #expect(none.isEmpty)
        let malformed = await refusal { _ = try await client.call(subsearch, [.string("x")]) }
        #expect(malformed == BusErrorName.invalidArguments)
        let unknown = await refusal {
            _ = try await client.call(BusMember(ShellSearchRequest.interface, "XUbuntuCancel"), [])
        }
        #expect(unknown == BusErrorName.unknownMethod)
        try await shell.type("elm")
        #expect(await shell.rows.map(\.name) == ["Elm"])
        await world.service.stop()
    }

    @Test("A row opens its item in the app; without an app the window shows it, as it shows all results")
    func opening() async throws {
        let world = try await DesktopWorld()
        try await world.donate(["Oak tree"], from: "com.example.trees")
        try await world.donate(["Oak table"], from: "com.example.tables")
        try world.install("com.example.trees")
        let shell = try await FakeShell(world.bus)
        try await shell.type("oak")
        let rows = await Dictionary(uniqueKeysWithValues: shell.rows.map { ($0.name, $0.identifier) })
        try await shell.activate(try #require(rows["Oak tree"]))
        #expect(world.log == ["com.example.trees searchlight_TIME4711"])
        try await shell.activate(try #require(rows["Oak table"]))
        try await shell.type("oak \"tree")
        try await shell.launchSearch()
        let window = "window --store \(world.service.store) --"
        #expect(
            world.log.dropFirst() == [
                "\(window) oak searchlight_TIME4711", "\(window) oak \"tree searchlight_TIME4711",
            ])
        await world.service.stop()
    }

    @Test("Where the window does not start, the page shows all results")
    func page() async throws {
        let world = try await DesktopWorld()
        try world.breakWindow()
        let shell = try await FakeShell(world.bus)
        try await shell.type("oak")
        try await shell.launchSearch()
        #expect(world.log == ["page --store \(world.service.store) --idle-exit 900 -- oak searchlight_TIME4711"])
        await world.service.stop()
    }

    @Test("Many keystrokes at once: each search answers for itself or is cancelled, and the newest answers")
    func cancellation() async throws {
        let world = try await DesktopWorld()
        try await world.donate((0..<50).map { "Ash \($0)" })
        let client = try await BusTestClient(world.bus)
        let member = BusMember(ShellSearchRequest.interface, "GetInitialResultSet")
        let newest = Task { try await client.call(member, [.strings(["ash", "1"])]) }
        _ = try await newest.value
        for _ in 0..<5 {
            let all = await withTaskGroup(of: (Int, String?).self, returning: [Int: String?].self) { group in
                for number in 0..<16 {
                    group.addTask {
                        (number, await refusal { _ = try await client.call(member, [.strings(["ash", "\(number)"])]) })
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            let errors = Set(all.values.compactMap { $0 })
            #expect(all.values.contains(nil) && errors.isSubset(of: [ExtensionStatus.cancelled.errorName]))
        }
        await world.service.stop()
    }

    @Test("The bus starts the service for a shell, and gdbus reads its answers")
    func activation() async throws {
        let folder = try TemporaryFolder()
        let daemon = try Program.path("searchlightd")
        let bus = try PrivateBus(services: [MessageBus.serviceName: "\(daemon) --store \(folder.path("store"))"])
        let target = ["--address", bus.address, "--dest", MessageBus.serviceName, "--object-path", "/com/searchlight"]
        let results = try await Program.run(
            "/usr/bin/gdbus",
            ["call"] + target + ["--method", "org.gnome.Shell.SearchProvider2.GetInitialResultSet", "['x']"])
        #expect(results.output.contains("(@as [],)"), "\(results.output)")
        let actions = try await Program.run(
            "/usr/bin/gdbus", ["call"] + target + ["--method", "org.kde.krunner1.Actions"])
        #expect(actions.output.contains("('copy', 'Copy', 'edit-copy')"), "\(actions.output)")
        let client = try await BusTestClient(bus)
        let process = pid_t(try await client.hello(.shell, bundle: nil).processIdentifier)
        kill(process, SIGTERM)
        #expect(await eventually { kill(process, 0) != 0 })
    }
}
