// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchIndex
import SearchlightEngine
import TestSupport

/// The kinds of work that a client does.
enum ClientKind: String, CaseIterable, Sendable {
    /// Donates successive batches, each with its number as the client state.
    case donor
    /// Searches and queries, and checks that the items found are complete.
    case reader
    /// Drags items of extensions.
    case dragger
    /// Requests previews of items of extensions.
    case previewer
    /// Requests reindexes, throttles extensions, and requests the service's status.
    case asker
    /// Runs the command.
    case commander
    /// Changes the files that the service follows.
    case author
    /// Reports uses of items.
    case chooser

    /// The number of clients of this kind.
    var count: Int {
        switch self {
        case .donor: TorturePlace.donors
        case .reader, .asker, .dragger: 2
        case .previewer, .commander, .author, .chooser: 1
        }
    }
}

/// A client in its own process, which runs until it is killed.
struct Client: Sendable {
    let place: TorturePlace
    let kind: ClientKind
    let number: Int
    let epoch: Int
    let seed: UInt64

    /// The time limit for any request.
    static let patience = Duration.seconds(120)

    var log: ClientLog { ClientLog(place, kind, number, epoch) }

    func run() async {
        var random = SplitMix64(seed: seed)
        while true {
            do {
                switch kind {
                case .commander:
                    try await CommandRuns(place: place, epoch: epoch, log: log).run(&random)
                    continue
                case .author:
                    try await Author(place: place, log: log).run(&random)
                    continue
                default: break
                }
                guard
                    let store = try await RemoteEngine.connect(
                        storeDirectory: place.store, program: "torture \(kind)", patience: Self.patience)
                else {
                    // Waits for the next service.
                    try await Task.sleep(for: .milliseconds(20))
                    continue
                }
                defer { store.hangUp() }
                switch kind {
                case .donor:
                    try await Donor(
                        scope: TorturePlace.scope(donor: number, epoch: epoch), number: number, epoch: epoch,
                        log: log
                    ).run(store)
                case .reader: try await Reader(place: place, epoch: epoch, log: log).run(store, &random)
                case .dragger, .previewer, .asker:
                    try await Asking(place: place, kind: kind, log: log).run(store, &random)
                case .chooser: try await Chooser(epoch: epoch, log: log).run(store, &random)
                case .commander, .author: break
                }
            } catch let error as EngineError {
                log.note(error, kind)
                try? await Task.sleep(for: .milliseconds(10))
            } catch {
                log.complain("\(error)")
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}

extension RemoteEngine { fileprivate func hangUp() { Task { await close() } } }

/// A client's log. Each line is a single write, so that a kill leaves no partial line.
struct ClientLog: Sendable {
    private let path: String

    init(_ place: TorturePlace, _ kind: ClientKind, _ number: Int, _ epoch: Int) {
        path = Self.path(place, kind, number, epoch)
    }

    static func path(_ place: TorturePlace, _ kind: ClientKind, _ number: Int, _ epoch: Int) -> String {
        place.logs + "/client-\(kind)-\(number).\(epoch)"
    }

    /// The number of the last batch that was acknowledged to a donor.
    var lastAcknowledged: Int {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").last { $0.hasPrefix("acknowledged ") }
        return line.flatMap { Int($0.dropFirst(13)) } ?? 0
    }

    func line(_ text: String) {
        let line = Array((text.replacing("\n", with: " ") + "\n").utf8)
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard file >= 0, write(file, line, line.count) == line.count else { exit(64) }
    }

    /// Records a violation.
    func complain(_ text: String) { line("FAILED \(text)") }

    func count(_ name: String) { line("counted \(name)") }

    /// Records an error. The service may reject a client's request, but the error must be the right
    /// one.
    func note(_ error: EngineError, _ kind: ClientKind) {
        let name: String
        switch error {
        case .index(.full): name = "no room"
        case .index(.readOnly): name = "cannot be written"
        case .storeFile(_, _, let detail):
            let text = detail.lowercased()
            name = text.contains("space") || text.contains("full") ? "no room" : "cannot be written"
            if !["space", "full", "read-only", "permission"].contains(where: { text.contains($0) }) {
                complain("\(kind): \(error)")
            }
        case .index(.mismatchedClientState): name = "another state"
        case .index(.closed), .storeInUse: name = "the store is in use"
        case .query(.index(let error)): return note(.index(error), kind)
        case .index: return complain("\(kind): \(error)")
        case .query(.cancelled), .extension(.cancelled), .service(.refused): name = "cancelled or refused"
        case .query: return complain("\(kind): \(error)")
        case .service(.malformedAnswer), .service(.otherVersion), .service(.requestTooLarge):
            return complain("\(kind): \(error)")
        case .service(.notAnswering): return complain("\(kind): \(error)")
        case .service: name = "the service was gone"
        case .extension: name = "an extension failed"
        case .promise, .drag: name = "undelivered"
        case .alreadyReindexing: name = "in use"
        // No client searches by meaning.
        case .semantic, .protection, .receipt: return complain("\(kind): \(error)")
        case .itemNotFound, .itemElsewhere, .ambiguousItem: name = "no such item"
        }
        count("refused or failed: \(name)")
    }

    /// Runs an operation that must finish within ``Client/patience``; otherwise exits.
    func timed<Value: Sendable>(
        _ what: String, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let watch = Task {
            try await Task.sleep(for: Client.patience)
            complain("\(what) did not come to an end within \(Client.patience)")
            _exit(70)
        }
        defer { watch.cancel() }
        return try await body()
    }
}
