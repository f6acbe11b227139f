// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Synchronization
import TestSupport

@testable import SearchlightService

/// Calls the service as another program does, and reads values of any type.
final class ForeignClient: Sendable {
    let bus: MessageBus
    private let service: BusService
    private let interface: String

    /// Connects, and waits until the service is available.
    init(_ privateBus: PrivateBus, _ interface: String) async throws {
        self.interface = interface
        bus = try MessageBus(
            address: privateBus.address, name: "test-shell", onCall: { $0.refuse(name: "com.example.No", message: "") },
            onDisconnect: { _ in })
        service = BusService(MessageBus.serviceName, on: bus)
        let (events, continuation) = AsyncStream.makeStream(of: BusService.Event.self)
        service.begin(hearing: []) { continuation.yield($0) }
        for await event in events {
            if case .appeared = event { break }
        }
    }

    func call(_ method: String, _ arguments: [BusValue]) async throws -> [ForeignValue] {
        try await withCheckedContinuation { continuation in
            service.call(BusTarget.searchlightPath, BusMember(interface, method), arguments) {
                continuation.resume(returning: $0)
            }
        }.get()
    }
}

/// A shell that does what the overview of GNOME Shell 43 does (`js/ui/search.js`,
/// `js/ui/remoteSearch.js`): it keeps descriptions of results for a series of searches, requests
/// only the missing ones, and shows nothing if their number is wrong or one of them has no name.
actor FakeShell {
    /// A row as the shell displays it.
    struct Row: Hashable {
        var identifier: String
        var name: String
        /// The description as Pango markup.
        var markup: String
        var icon: [ForeignValue]
    }

    private let client: ForeignClient
    private var terms: [String] = []
    private var results: [String]?
    private var displays: [String: Row] = [:]
    /// The displayed rows.
    private(set) var rows: [Row] = []
    /// The number of further results.
    private(set) var moreCount = 0
    /// The methods that were called.
    private(set) var called: [String] = []

    private static let maximumRows = 5

    init(_ bus: PrivateBus) async throws { client = try await ForeignClient(bus, ShellSearchRequest.interface) }

    private func call(_ method: String, _ arguments: [BusValue]) async throws -> [ForeignValue] {
        called.append(method)
        return try await client.call(method, arguments)
    }

    /// Sets the text of the search entry, and returns when the rows are displayed.
    func type(_ text: String) async throws {
        try await search(text)
        try await show()
    }

    /// Requests the results for a text.
    func search(_ text: String) async throws {
        let new = text.split(whereSeparator: \.isWhitespace).map(String.init)
        let isSubsearch = !terms.isEmpty && new.joined(separator: " ").hasPrefix(terms.joined(separator: " "))
        terms = new
        guard !terms.isEmpty else { return reset() }
        let answer =
            if isSubsearch, let results {
                try await call("GetSubsearchResultSet", [.strings(results), .strings(terms)])
            } else {
                try await call("GetInitialResultSet", [.strings(terms)])
            }
        results = answer.first?.members.compactMap(\.text) ?? []
    }

    /// Requests the missing descriptions and displays the rows.
    func show() async throws {
        let results = results ?? []
        let shown = Array(results.prefix(Self.maximumRows))
        let needed = shown.filter { displays[$0] == nil }
        (rows, moreCount) = ([], 0)
        if !needed.isEmpty {
            let metas = try await call("GetResultMetas", [.strings(needed)]).first?.members ?? []
            guard metas.count == needed.count else { return }
            for (identifier, meta) in zip(needed, metas.map(\.entries)) {
                guard let name = meta["name"]?.text, !name.isEmpty, meta["id"]?.text?.isEmpty == false else { return }
                displays[identifier] = Row(
                    identifier: identifier, name: name, markup: Self.markup(meta["description"]?.text ?? "", terms),
                    icon: meta["icon"]?.members ?? [])
            }
        }
        rows = shown.compactMap { displays[$0] }
        moreCount = results.count - shown.count
    }

    private func reset() { (terms, results, displays, rows, moreCount) = ([], nil, [:], [], 0) }

    /// Opens a row with the pointer.
    func activate(_ identifier: String) async throws {
        _ = try await call("ActivateResult", [.string(identifier), .strings(terms), .unsigned32(4711)])
    }

    /// Opens the list of all results.
    func launchSearch() async throws { _ = try await call("LaunchSearch", [.strings(terms), .unsigned32(4711)]) }

    /// Returns the descriptions for these identifiers.
    func metas(_ identifiers: [String]) async throws -> [[String: ForeignValue]] {
        try await call("GetResultMetas", [.strings(identifiers)]).first?.members.map(\.entries) ?? []
    }

    /// Escapes a description and marks the typed terms, as the shell's `Highlighter` does.
    private static func markup(_ text: String, _ terms: [String]) -> String {
        var markup = ""
        var rest = text[...]
        let words = terms.map { $0.lowercased() }
        while let character = rest.first {
            if let word = words.first(where: { rest.lowercased().hasPrefix($0) }) {
                markup += "<b>\(escaped(rest.prefix(word.count)))</b>"
                rest = rest.dropFirst(word.count)
            } else {
                markup += escaped("\(character)")
                rest = rest.dropFirst()
            }
        }
        return markup
    }

    private static func escaped(_ text: Substring) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.append(character)
            }
        }
    }
}
