// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import MetadataQuery
import Promises
import SearchIndex
import SearchlightEngine
import TestSupport

/// Sends drags, previews and other requests to all extensions; a quarter of the requests are
/// cancelled before the answer.
struct Asking: Sendable {
    let place: TorturePlace
    let kind: ClientKind
    let log: ClientLog

    private static let atOnce = 2

    func run(_ store: RemoteEngine, _ random: inout SplitMix64) async throws {
        let bundles = place.bundles
        // Half of the requests go to the bundles that are checked in detail.
        let close = TorturePlace.ledgers + TorturePlace.writers + TorturePlace.replaced
        while true {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.atOnce {
                    let bundle = random.below(2) == 0 ? random.pick(close) : random.pick(bundles)
                    let choice = random.below(1000)
                    let wait = random.below(4) == 0 ? random.below(60_000) : 2_000_000 + random.below(2_000_000)
                    group.addTask { try await ask(store, bundle, choice, givenUpAfter: wait) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func ask(_ store: RemoteEngine, _ bundle: String, _ choice: Int, givenUpAfter wait: Int) async throws {
        let task = Task {
            switch kind {
            case .dragger: try await drag(store, bundle, choice)
            case .previewer: try await show(store, bundle)
            default: try await manage(store, bundle, choice)
            }
        }
        let timer = Task {
            try await Task.sleep(for: .microseconds(wait))
            task.cancel()
        }
        defer { timer.cancel() }
        do {
            try await log.timed("\(kind) of \(bundle)") { try await task.value }
        } catch EngineError.service(.ended(let during)) {
            // The client must connect again.
            throw EngineError.service(.ended(during: during))
        } catch let error as EngineError {
            log.note(error, kind)
        } catch is CancellationError {}
    }

    private func items(_ store: RemoteEngine, _ bundle: String) async throws -> [StoredItem] {
        try await store.items(matching: .and([]), bundle: bundle, limit: 8).items
    }

    private func drag(_ store: RemoteEngine, _ bundle: String, _ choice: Int) async throws {
        guard let item = try await items(store, bundle).last else { return }
        let isFile = choice % 4 == 0
        let names = item.record.texts(isFile ? "providerFileTypeIdentifiers" : "providerDataTypeIdentifiers")
        let type = names.isEmpty ? "public.data" : names[choice % names.count]
        let content = try await store.fulfil(Representation(type: type, form: isFile ? .file : .data), of: item)
        guard case .data(let payload) = content else { return log.count("drags") }
        let bytes = try Delivery.collect(payload, limit: 8 << 20)
        log.count("drags")
        let text = String(decoding: bytes.prefix(100), as: UTF8.self)
        if TorturePlace.ledgers.contains(bundle), text != item.record.uniqueIdentifier {
            log.complain("\(bundle): \(item.record.uniqueIdentifier) was dragged as “\(text)”")
        }
        if TorturePlace.replaced.contains(bundle), !TorturePlace.versions.contains(text) {
            log.complain("\(bundle): was dragged as “\(text)”")
        }
    }

    private func show(_ store: RemoteEngine, _ bundle: String) async throws {
        guard let item = try await items(store, bundle).last else { return }
        let preview = try await store.preview(of: item, query: "item")
        log.count("previews")
        if TorturePlace.ledgers.contains(bundle), preview.source == .extension,
            preview.content != Array(item.record.uniqueIdentifier.utf8)
        {
            log.complain("\(bundle): \(item.record.uniqueIdentifier) was rendered as something else")
        }
    }

    private func manage(_ store: RemoteEngine, _ bundle: String, _ choice: Int) async throws {
        let key = ScheduledJob.Key.reindex(bundle: bundle)
        switch choice % 12 {
        case 0...3:
            _ = try await store.perform(ReindexCall(bundle: bundle))
            if TorturePlace.ledgers.contains(bundle) { log.line("ledger \(bundle)") }
            log.count("reindexes")
        case 4:
            _ = try await store.perform(ReindexItemsCall(bundle: bundle, items: ["one", "base-0-\(choice % 5)"]))
            log.count("reindexes of items")
        case 5:
            _ = try await store.setThrottled(choice % 2 == 0, bundle)
            log.count("throttles")
        case 6:
            _ = try await store.schedule(of: nil)
            _ = try await store.perform(PendingReindexesCall())
        case 7: _ = try await store.runNow(choice % 3 == 0 ? .maintenance(.purgeExpired) : key)
        case 8: _ = try await store.cancel(key)
        case 9:
            _ = try await store.perform(StatusCall(isExact: false))
            _ = try await store.perform(ExtensionListingCall())
            _ = try await store.perform(ExtensionPlacesCall())
        case 10 where choice % 24 == 10: _ = try await store.perform(EmbedCall())
        case 10:
            _ = try await store.perform(ExtensionDetailsCall(bundle: bundle))
            _ = try await store.perform(ReleaseCall(bundle: bundle))
        default: try await store.inhibit(who: "torture", why: "to be given up")
        }
        log.count("requests of other kinds")
    }
}

/// Runs the command repeatedly. It must always exit with one of its documented statuses.
struct CommandRuns: Sendable {
    let place: TorturePlace
    let epoch: Int
    let log: ClientLog

    private static let commands = [
        ["status"], ["search", "anvil"], ["list"], ["extensions"], ["schedule"], ["query", "pageCount > 1", "--json"],
        ["why", "org.example.ledger-0"], ["verify"], ["log"], ["preview", "@1"], ["show", "@1"],
        ["search", "anvil bellows chisel"], ["history"], ["semantic", "status"], ["open"], ["open"], ["open"],
    ]
    /// The statuses of ExitStatus. 10 reports damage, which must not occur while clients run.
    private static let statuses: Set<Int32> = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

    func run(_ random: inout SplitMix64) async throws {
        var command = random.pick(Self.commands)
        let opens = command == ["open"]
        if opens {
            command += [Chooser.identifier(0, epoch: epoch), "--bundle", Chooser.bundle]
            log.line("opening")
        }
        let (ending, output) = try await log.timed("searchlight \(command[0])") { [command] in
            try ChildProcess.run(
                BuiltCommand.path, command + ["--store", place.store], environment: place.environment)
        }
        log.count(opens ? "openings" : "commands")
        if opens, ending == .exited(0) { log.line("opened") }
        guard case .exited(let status) = ending, Self.statuses.contains(status) else {
            log.complain("searchlight \(command.joined(separator: " ")): \(ending): \(output.suffix(500))")
            return
        }
    }
}

/// The command in the build of this program.
enum BuiltCommand {
    static let path: String = {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: program).deletingLastPathComponent().path + "/searchlight"
    }()
}
