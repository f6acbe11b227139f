// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Foundation
import Glibc
import ItemRecord
import Previews
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Launchers", .enabled(if: PrivateBus.isAvailable), .timeLimit(.minutes(10)))
struct LauncherTests {
    private let target = ["--dest", MessageBus.serviceName, "--object-path", "/com/searchlight"]

    private func service(_ bus: PrivateBus) async throws -> TestService {
        let service = try await TestService { $0.sessionBus = bus.address }
        let notes = try await service.app()
        try await notes.donate(["n1"], title: "Cheese from Gruyère")
        var batch: [UInt8] = []
        let attributes: [String: AttributeValue] = [
            "textContent": .string("All about cheese and wine."), "contentURL": .url("file:///home/ada/wine.txt"),
            "rating": .integer(4),
            "authors": .array([.person(PersonValue(displayName: "Ada", handles: [], handleIdentifier: "mail"))]),
            "contentCreationDate": .date(0),
        ]
        RecordBatch.append(try record("w1", title: "Wine", attributes: attributes), to: &batch)
        let wine = try await service.app("com.example.wine")
        try await wine.index(.put(batch), in: "cellar")
        // A launcher does not wait for the latest donations, but other clients do.
        _ = try await wine.query("title == '*'")
        _ = try await notes.query("title == '*'")
        return service
    }

    private func text(_ values: [String: BusValue]?, _ key: String) -> String? {
        if case .string(let text)? = values?[key] { text } else { nil }
    }

    @Test("A launcher without an introduction searches all bundles, page by page, and gets and previews items")
    func search() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        let launcher = try await BusTestClient(bus)
        let found = try await launcher.search("cheese", ["limit": .unsigned32(1)])
        #expect(found.map { text($0, "uniqueIdentifier") } == ["n1"])
        #expect(text(found.first, "bundle") == "com.example.notes")
        #expect(text(found.first, "title") == "Cheese from Gruyère")
        #expect(text(found.first, "kind") == "titleStart")
        let cursor = try #require(found.first?["cursor"])
        let rest = try await launcher.search(
            "cheese", ["limit": .unsigned(5), "cursor": cursor, "attributes": .strings(["rating"])])
        #expect(rest.map { text($0, "uniqueIdentifier") } == ["w1"])
        #expect(text(rest.first, "index") == "cellar")
        #expect(text(rest.first, "path") == "/home/ada/wine.txt")
        #expect(text(rest.first, "snippet") == "All about cheese and wine.")
        #expect(rest.first?["cursor"] == nil)
        guard case .dictionary(let attributes)? = rest.first?["attributes"], case .signed(4)? = attributes["rating"],
            case .double(let score)? = rest.first?["score"], case .unsigned(let number)? = rest.first?["number"]
        else { throw BusError.malformed("\(rest)") }
        #expect(score > 0 && attributes.count == 1)
        let one = try await launcher.search("cheese", ["bundle": .string("com.example.wine")])
        #expect(one.count == 1)
        var item = BusArguments(
            try await launcher.call(BusMember(LauncherRequest.interface, "Get"), [.unsigned(number)]), of: "Get")
        guard case .dictionary(let all)? = try item.dictionary()["attributes"],
            case .dictionaries(let people)? = all["authors"],
            case .double(978_307_200)? = all["contentCreationDate"]
        else { throw BusError.malformed("\(item)") }
        #expect(text(people.first, "displayName") == "Ada")
        let preview = BusMember(LauncherRequest.interface, "Preview")
        var shown = BusArguments(
            try await launcher.call(preview, [.unsigned(number), .string("wine")]), of: "Preview")
        #expect(try shown.string() == "public.html")
        #expect(try shown.string() == "Wine")
        let content = try shown.bytes()
        #expect(String(decoding: content, as: UTF8.self).contains("Wine"))
        let file = BusMember(LauncherRequest.interface, "PreviewFile")
        var shownFile = BusArguments(
            try await launcher.call(file, [.unsigned(number), .string("wine")]), of: "PreviewFile")
        _ = (try shownFile.string(), try shownFile.string())
        let descriptor = try shownFile.descriptor()
        #expect(try shownFile.unsigned() == UInt64(content.count))
        var bytes = [UInt8](repeating: 0, count: content.count + 1)
        #expect(read(descriptor.number, &bytes, bytes.count) == content.count)
        #expect(Array(bytes.dropLast()) == content)
        let whole = BusMember(LauncherRequest.interface, "GetPreview")
        var details = BusArguments(
            try await launcher.call(whole, [.unsigned(number), .string("wine")]), of: "GetPreview")
        let values = try details.dictionary()
        guard case .bytes(content)? = values["content"], case .unsigned(UInt64(content.count))? = values["length"]
        else {
            throw BusError.malformed("\(values)")
        }
        #expect(Set(values.keys) == ["content", "contentType", "length", "source", "title"])
        #expect(text(values, "title") == "Wine" && text(values, "source") == "attributes")
        await service.stop()
    }

    @Test("A launcher gets the corrections of misspelled words, and may turn them off")
    func corrections() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        let launcher = try await BusTestClient(bus)
        let found = try await launcher.search("chesse", ["limit": .unsigned32(1)])
        #expect(found.map { text($0, "uniqueIdentifier") } == ["n1"] && text(found.first, "correction") == "cheese")
        let cursor = try #require(found.first?["cursor"])
        let rest = try await launcher.search("chesse", ["cursor": cursor])
        #expect(rest.map { text($0, "uniqueIdentifier") } == ["w1"] && text(rest.first, "correction") == "cheese")
        let asTyped = try await launcher.search("chesse", ["correctsSpelling": .boolean(false)])
        #expect(asTyped.isEmpty)
        await service.stop()
    }

    @Test("A launcher gets suggestions with their kinds and counts, of all bundles or of one")
    func suggestions() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        let launcher = try await BusTestClient(bus)
        let all = try await launcher.suggest("che")
        #expect(text(all.first, "kind") == "completion" && text(all.first, "text") == "Cheese")
        guard case .unsigned(2)? = all.first?["count"], case .boolean(true)? = all.first?["isExact"] else {
            throw BusError.malformed("\(all)")
        }
        let limited = try await launcher.suggest("che", ["limit": .signed32(1)])
        #expect(limited.count == 1)
        let wine = try await launcher.suggest("che", ["bundle": .string("com.example.wine")])
        #expect(wine.map { text($0, "text") } == ["cheese"])
        let refused = await refusal { _ = try await launcher.suggest("che", ["cursor": .bytes([])]) }
        #expect(refused == BusErrorName.invalidArguments)
        await service.stop()
    }

    @Test("Removed parts, the size and the problem are reported; content beyond the bound comes as a file")
    func details() throws {
        let removals = Removal.Kind.allCases.map {
            Removal(
                kind: $0, count: 2, example: String(repeating: "\u{1F600}", count: Removal.maximumExampleCharacters))
        }
        var preview = Preview(
            title: "Note", contentType: "public.html", content: [1, 2, 3], source: .extension, problem: "late",
            size: .init(width: 640, height: 480), removals: removals)
        let all = LauncherPreview.all(of: preview, maximumBytes: 3)
        guard case .bytes([1, 2, 3])? = all["content"], case .double(640)? = all["width"],
            case .double(480)? = all["height"], case .dictionaries(let removed)? = all["removed"],
            case .unsigned(2)? = removed.first?["count"]
        else { throw BusError.malformed("\(all)") }
        #expect(text(all, "problem") == "late" && text(all, "source") == "extension")
        #expect(removed.map { text($0, "kind") } == Removal.Kind.allCases.map(\.rawValue))
        #expect(removed.allSatisfy { text($0, "example")?.count == Removal.maximumExampleCharacters })
        // The answer stays within its limit, regardless of the content that was removed.
        #expect(BusValue.dictionary(all).approximateBytes < 32 << 10)
        preview.content.append(4)
        #expect(LauncherPreview.all(of: preview, maximumBytes: 3)["content"] == nil)
    }

    @Test("A launcher gets the reasons why a search does not show an item, and a search that does")
    func whyNot() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        let launcher = try await BusTestClient(bus)
        let wine = try #require(try await launcher.search("wine").first?["number"])
        func diagnosis(_ text: String, _ options: [String: BusValue] = [:]) async throws -> [String: BusValue] {
            let answer = try await launcher.call(
                BusMember(LauncherRequest.interface, "WhyNot"), [wine, .string(text), .dictionary(options)])
            var arguments = BusArguments(answer, of: "WhyNot")
            return try arguments.dictionary()
        }
        let excluded = try await diagnosis("cheeses -gruyere kind:pdf nothing")
        #expect(text(excluded, "outcome") == "excluded")
        #expect(text(excluded, "summary") == "It is not found: the search is limited to items of the kind pdf.")
        guard case .dictionaries(let words)? = excluded["words"],
            case .dictionaries(let conditions)? = excluded["conditions"],
            case .dictionaries(let suggestions)? = excluded["suggestions"]
        else { throw BusError.malformed("\(excluded)") }
        #expect(words.map { text($0, "word") } == ["cheeses", "nothing"])
        #expect(words.map { text($0, "places") } == ["in the text as “cheese”", "not in the item"])
        #expect(conditions.map { text($0, "kind") } == ["excludedWords", "filter"])
        guard case .boolean(true)? = conditions[0]["isMet"], case .boolean(false)? = conditions[1]["isMet"] else {
            throw BusError.malformed("\(conditions)")
        }
        #expect(suggestions.map { text($0, "text") } == ["cheeses -gruyere nothing"])
        let behind = try await diagnosis("cheese", ["limit": .unsigned32(1)])
        #expect(text(behind, "outcome") == "behind")
        guard case .unsigned(2)? = behind["rank"], case .unsigned(2)? = behind["found"],
            case .dictionary(let hit)? = behind["hit"], case .dictionary(let last)? = behind["lastShown"],
            case .double(let score)? = hit["score"], case .double(let better)? = last["score"]
        else { throw BusError.malformed("\(behind)") }
        #expect(score < better && text(last, "title") == "Cheese from Gruyère")
        let elsewhere = try await diagnosis("cheese", ["bundle": .string("com.example.notes")])
        #expect(text(elsewhere, "outcome") == "excluded")
        for (number, options, name) in [
            (wine, ["cursor": .bytes([])], BusErrorName.invalidArguments),
            (.unsigned(999), [:], ExtensionStatus.notFound.errorName),
        ] as [(BusValue, [String: BusValue], String)] {
            let refused = await refusal {
                _ = try await launcher.call(
                    BusMember(LauncherRequest.interface, "WhyNot"), [number, .string("cheese"), .dictionary(options)])
            }
            #expect(refused == name)
        }
        await service.stop()
    }

    @Test("A launcher gets similar items with the way in which they were found, and filters limit them")
    func similar() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        let others = try await service.app("com.example.other")
        for number in 0..<8 { try await others.donate(["o\(number)"], title: "Sheet \(number)") }
        _ = try await others.query("title == '*'")
        let launcher = try await BusTestClient(bus)
        let member = BusMember(LauncherRequest.interface, "Similar")
        let wine = try #require(try await launcher.search("wine").first?["number"])
        func similar(
            _ options: [String: BusValue] = [:]
        ) async throws -> (items: [[String: BusValue]], answer: [String: BusValue]) {
            var arguments = BusArguments(try await launcher.call(member, [wine, .dictionary(options)]), of: "Similar")
            return (try arguments.dictionaries(), try arguments.dictionary())
        }
        let found = try await similar(["limit": .signed32(5), "attributes": .strings(["rating"])])
        #expect(found.items.map { text($0, "uniqueIdentifier") } == ["n1"])
        #expect(text(found.answer, "basis") == "wordsWithoutModel")
        #expect(text(found.answer, "advice")?.contains("searchlight semantic install") == true)
        #expect(try await similar(["filters": .string("kind:pdf")]).items.isEmpty)
        #expect(try await similar(["bundle": .string("com.example.other")]).items.isEmpty)
        for (number, options, name) in [
            (wine, ["filters": .string("cheese")], ServiceErrorName.invalidQuery),
            (wine, ["cursor": .bytes([])], BusErrorName.invalidArguments),
            (.unsigned(999), [:], ExtensionStatus.notFound.errorName),
            (.unsigned(.max), [:], ExtensionStatus.notFound.errorName),
        ] as [(BusValue, [String: BusValue], String)] {
            let refused = await refusal { _ = try await launcher.call(member, [number, .dictionary(options)]) }
            #expect(refused == name)
        }
        await service.stop()
    }

    @Test("An item whose identifier looks like a number is distinguished from the item with that number")
    func numberAsIdentifier() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        let other = try await service.app("com.example.other")
        try await other.donate(["@999"], title: "Cheese")
        _ = try await other.query("title == '*'")
        let launcher = try await BusTestClient(bus)
        for (member, more) in [
            ("Get", []), ("Similar", [.dictionary([:])]), ("WhyNot", [.string("cheese"), .dictionary([:])]),
            ("Preview", [.string("cheese")]),
        ] as [(String, [BusValue])] {
            let refused = await refusal {
                _ = try await launcher.call(BusMember(LauncherRequest.interface, member), [.unsigned(999)] + more)
            }
            #expect(refused == ExtensionStatus.notFound.errorName, "\(member)")
        }
        await service.stop()
    }

    @Test("A wrong request of a launcher is rejected with the reason")
    func refused() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        let launcher = try await BusTestClient(bus)
        for (options, name) in [
            (["colour": .string("")], BusErrorName.invalidArguments),
            (["limit": .string("many")], BusErrorName.invalidArguments),
            (["limit": .signed32(-1)], BusErrorName.invalidArguments),
            (["cursor": .bytes([1, 2, 3])], ServiceErrorName.invalidQuery),
        ] as [([String: BusValue], String)] {
            let refused = await refusal { _ = try await launcher.search("cheese", options) }
            #expect(refused == name)
        }
        let missing = await refusal {
            _ = try await launcher.call(BusMember(LauncherRequest.interface, "Get"), [.unsigned(999)])
        }
        #expect(missing == ExtensionStatus.notFound.errorName)
        // Methods that a shell may call after its Hello are not available to other clients.
        let fresh = try await BusTestClient(bus)
        let perform = await refusal {
            _ = try await fresh.call(AdminRequest.performMember, [.string("x"), .string("")])
        }
        #expect(perform == ServiceErrorName.accessDenied)
        // On the socket, every client must identify itself.
        let direct = try service.connect()
        let search = BusMember(LauncherRequest.interface, "Search")
        let early = await refusal { _ = try await direct.connection.call(search, [.string("x"), .dictionary([:])]) }
        #expect(early == ServiceErrorName.accessDenied)
        let shell = try await service.shell()
        var found = BusArguments(
            try await shell.connection.call(search, [.string("cheese"), .dictionary([:])]), of: "Search")
        #expect(try found.dictionaries().count == 2)
        await service.stop()
    }

    @Test("The tools of the bus understand the service")
    func tools() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        _ = try await BusTestClient(bus)
        let files = FileManager.default
        if files.isExecutableFile(atPath: "/usr/bin/gdbus") {
            let (status, output) = try await Program.run(
                "/usr/bin/gdbus",
                ["call", "--address", bus.address] + target
                    + ["--method", "com.searchlight.Search1.Search", "cheese", "{'limit': <5>}"])
            #expect(status == 0 && output.contains("'title': <'Cheese from Gruyère'>"), "\(output)")
        }
        if files.isExecutableFile(atPath: "/usr/bin/busctl") {
            let object = [MessageBus.serviceName, "/com/searchlight"]
            let (status, output) = try await Program.run(
                "/usr/bin/busctl", ["--address=\(bus.address)", "introspect"] + object)
            #expect(status == 0 && output.contains("com.searchlight.Search1"), "\(output)")
            let tree = try await Program.run(
                "/usr/bin/busctl", ["--address=\(bus.address)", "tree", MessageBus.serviceName])
            #expect(tree.status == 0 && tree.output.contains("/com/searchlight"), "\(tree.output)")
            let call = try await Program.run(
                "/usr/bin/busctl",
                ["--address=\(bus.address)", "call"] + object
                    + ["com.searchlight.Search1", "Search", "sa{sv}", "cheese", "1", "limit", "u", "1"])
            #expect(call.status == 0 && call.output.contains("com.example.notes"), "\(call.output)")
        }
        await service.stop()
    }
}
