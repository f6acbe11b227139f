// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("The registry of delegates")
struct DelegateRegistryTests {
    private struct Nobody: LiveDelegate {
        func perform(_ request: WorkerRequest) async throws(BusError) -> [BusValue] { throw .disconnected }
        func settle() async {}
        func takeLoss() -> BusError? { nil }
    }

    private func registry() -> LiveDelegates {
        LiveDelegates(WorkerConfiguration(workerPath: "/nowhere", frameworkFolder: nil, environment: [:]))
    }

    @Test("A token is not valid in another registry, as after an engine was opened again")
    func tokensOfOthers() throws {
        let (first, second) = (registry(), registry())
        let token = try first.register(Nobody(), for: "a")
        let other = try second.register(Nobody(), for: "b")
        #expect(token != other && !second.unregister(token) && second.isRegistered(for: "b"))
    }

    @Test(
        "The newest present delegate is asked, then the next older one",
        arguments: 0..<50 as Range<UInt64>)
    func newest(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let registry = registry()
        let bundles = ["a", "b", "c"]
        var model: [String: [DelegateToken]] = [:]
        var all: [DelegateToken] = []
        for _ in 0..<400 {
            let bundle = random.pick(bundles)
            if random.below(5) < 2 || all.isEmpty {
                let isFull = model[bundle, default: []].count == LiveDelegates.maximumForBundle
                let token = try? registry.register(Nobody(), for: bundle)
                #expect((token == nil) == isFull)
                guard let token else { continue }
                #expect(!all.contains(token))
                all.append(token)
                model[bundle, default: []].append(token)
            } else {
                // Often an item that has already been removed.
                let token = random.pick(all)
                let wasThere = model.values.contains { $0.contains(token) }
                #expect(registry.unregister(token) == wasThere)
                for bundle in bundles { model[bundle]?.removeAll { $0 == token } }
            }
            for bundle in bundles {
                let expected = Array(model[bundle, default: []].reversed())
                #expect(registry.isRegistered(for: bundle) == !expected.isEmpty)
                var asked: Set<DelegateToken> = []
                var order: [DelegateToken] = []
                while let next = registry.newest(for: bundle, excluding: asked, includingSilent: false) {
                    asked.insert(next.token)
                    order.append(next.token)
                }
                #expect(order == expected, "seed \(seed)")
            }
        }
    }

    @Test("The number of registrations is limited for a bundle and in total")
    func bounds() throws {
        let registry = registry()
        for _ in 0..<LiveDelegates.maximumForBundle { _ = try registry.register(Nobody(), for: "a") }
        let error = #expect(throws: ExtensionError.self) { _ = try registry.register(Nobody(), for: "a") }
        #expect(error?.description.contains("the limit is \(LiveDelegates.maximumForBundle)") == true)
        for number in LiveDelegates.maximumForBundle..<LiveDelegates.maximum {
            _ = try registry.register(Nobody(), for: "b\(number)")
        }
        #expect(throws: ExtensionError.self) { _ = try registry.register(Nobody(), for: "c") }
    }

    @Test("An unreachable delegate is no longer present")
    func disconnected() async throws {
        let registry = registry()
        let token = try registry.register(Nobody(), for: "a")
        let responder = try #require(registry.newest(for: "a", excluding: [], includingSilent: false))
        let request = WorkerRequest.didThrottle(ThrottleNotice(reason: .other))
        await #expect(throws: ExtensionError.self) { _ = try await responder.perform(request) }
        #expect(!registry.isRegistered(token))
        #expect(!registry.isRegistered(for: "a"))
    }

    /// Acknowledges each request, but loses a donation, or answers with a failure.
    private final class Failing: LiveDelegate {
        private let losses = Mutex<[BusError?]>([])
        private let message: String?

        init(message: String?) {
            self.message = message
            // A loss from before the request is ignored.
            losses.withLock { $0 = [nil, .remote(name: ExtensionStatus.unavailable.errorName, message: "disk full")] }
        }
        func perform(_ request: WorkerRequest) async throws(BusError) -> [BusValue] {
            guard let message else { return [] }
            throw .remote(name: ExtensionStatus.failed.errorName, message: message)
        }
        func settle() async {}
        func takeLoss() -> BusError? { losses.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    @Test(
        "A confidential request hides the words of the app, but not those of the host",
        arguments: [
            (nil, "disk full"), ("no canary", "it gave a reason"), (EncryptedItems.noDelegate, "no delegate"),
        ] as [(String?, String)])
    func confidential(message: String?, shown: String) async throws {
        let registry = registry()
        _ = try registry.register(Failing(message: message), for: "a")
        let responder = try #require(registry.newest(for: "a", excluding: [], includingSilent: false))
        let items = EncryptedItems(index: "i", protection: .complete, identifiers: ["canary"])
        let error = await #expect(throws: ExtensionError.self) {
            _ = try await responder.perform(.reindexEncrypted(items), isConfidential: true)
        }
        let text = error?.description ?? ""
        #expect(text.contains(shown) && !text.contains("canary"), "\(text)")
    }

    @Test("A removed delegate is not asked")
    func ended() async throws {
        let registry = registry()
        let token = try registry.register(Nobody(), for: "a")
        let responder = try #require(registry.newest(for: "a", excluding: [], includingSilent: false))
        registry.unregister(token)
        let error = await #expect(throws: ExtensionError.self) { _ = try await responder.perform(.reindexAll) }
        guard case .delegateUnavailable("a", _, "it disconnected")? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
