// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Glibc
import ItemRecord
import Promises
import SearchIndex
import SearchlightEngine
import ServiceMessages
import TestSupport
import TortureSupport

/// A set of concurrent requests, some of which are cancelled, and sometimes a kill.
struct TortureRound: Sendable {
    let place: TorturePlace
    let store: any EngineClient
    let ledgers: [Ledger]
    let figures: TortureFigures

    /// The kinds of requests.
    private enum Request: CaseIterable {
        case reindex, data, file, preview, throttle
    }

    func run(_ random: inout SplitMix64) async {
        place.passTime()
        await withTaskGroup(of: Void.self) { group in
            for ledger in ledgers where random.below(2) == 0 {
                let (request, wait) = (random.below(3), patience(&random))
                group.addTask { await ask(ledger, request, cancelledAfter: wait) }
            }
            for _ in 0..<(1 + random.below(3)) where !place.broken.isEmpty {
                let bundle = random.pick(place.broken)
                let (request, wait) = (random.pick(Request.allCases), patience(&random))
                group.addTask { await ask(bundle, request, cancelledAfter: wait) }
            }
            // A service would quarantine extensions whose workers are killed from outside.
            if place.service == nil, random.below(4) == 0 {
                let (choice, wait) = (random.below(1000), random.below(30_000))
                group.addTask {
                    try? await Task.sleep(for: .microseconds(wait))
                    killOne(choice)
                }
            }
        }
    }

    /// Returns the delay before the cancellation, in microseconds; in most cases nil, for no
    /// cancellation.
    private func patience(_ random: inout SplitMix64) -> Int? {
        // A service's limits are longer than a run can wait.
        let isHurried = place.service != nil && random.below(2) == 0
        return isHurried || random.below(4) == 0 ? random.below(isHurried ? 300_000 : 40_000) : nil
    }

    /// Kills one of the host's workers, selected by `choice`.
    private func killOne(_ choice: Int) {
        let workers = ProcessFacts.children(of: place.host)
        guard !workers.isEmpty else { return }
        figures.killed.add()
        kill(workers[choice % workers.count], SIGKILL)
    }

    private func ask(_ ledger: Ledger, _ request: Int, cancelledAfter wait: Int?) async {
        let (result, wasCancelled) = await attempt(wait) {
            switch request {
            case 0: try await ledger.add(store)
            case 1: try await ledger.drag(store)
            default: try await ledger.show(store)
            }
        }
        figures.note(result, isGood: true, wasCancelled)
    }

    private func ask(_ bundle: String, _ request: Request, cancelledAfter wait: Int?) async {
        let (result, wasCancelled) = await attempt(wait) {
            if request == .reindex {
                return _ = try await store.perform(ReindexCall(bundle: bundle)) { figures.note($0) }
            }
            if request == .throttle {
                guard let engine = store as? SearchlightEngine else { return }
                return _ = await engine.throttle(bundle, ThrottleNotice(reason: .requested))
            }
            let item = try await self.item(of: bundle)
            switch request {
            case .data:
                let type = item.record.texts("providerDataTypeIdentifiers").last ?? "public.data"
                if case .data(let payload) = try await store.fulfil(Representation(type: type, form: .data), of: item) {
                    _ = try Delivery.collect(payload, limit: 1 << 20)
                }
            case .file: _ = try await store.fulfil(Representation(type: "public.rtf", form: .file), of: item)
            default: _ = try await store.preview(of: item, query: nil)
            }
        }
        figures.note(result, isGood: false, wasCancelled)
    }

    /// Returns an item in the bundle, or an invented item if the bundle has not donated any.
    private func item(of bundle: String) async throws -> StoredItem {
        if let item = try? await store.item(named: "one", bundle: bundle) { return item }
        return StoredItem(
            number: 1, scope: IndexScope(bundle: bundle), record: ItemRecord(uniqueIdentifier: "one"), donated: 0,
            expires: nil)
    }

    /// Runs a request and cancels it after a delay.
    private func attempt(
        _ wait: Int?, _ body: @escaping @Sendable () async throws -> Void
    ) async -> (Result<Void, any Error>, wasCancelled: Bool) {
        let task = Task { try await body() }
        guard let wait else { return (await task.result, false) }
        let timer = Task {
            try? await Task.sleep(for: .microseconds(wait))
            task.cancel()
        }
        defer { timer.cancel() }
        return (await task.result, task.isCancelled)
    }
}
