// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The bundles whose background requests are paused, and the requests that wait. A request that is
/// being made while its bundle is paused waits too; otherwise it would start a worker that is not
/// paused.
final class PausedBundles: Sendable {
    private struct State {
        var paused: Set<String> = []
        var waiting: [UInt64: (bundle: String, mayGoOn: CheckedContinuation<Bool, Never>)] = [:]
        var last: UInt64 = 0
        var isClosed = false
    }
    private let state = Mutex(State())

    func contains(_ bundle: String) -> Bool { state.withLock { $0.paused.contains(bundle) } }

    /// Makes new background requests of a bundle wait.
    func pause(_ bundle: String) { state.withLock { _ = $0.paused.insert(bundle) } }

    /// Lets the waiting requests of a bundle continue.
    func resume(_ bundle: String) { release(true) { $0.paused.remove(bundle) != nil ? { $0 == bundle } : nil } }

    /// Cancels the waiting requests of a bundle. New requests do not wait.
    func end(_ bundle: String) { release(false) { $0.paused.remove(bundle) != nil ? { $0 == bundle } : nil } }

    /// Cancels all waiting requests, and all new requests that would wait.
    func close() {
        release(false) { state in
            state.isClosed = true
            return { _ in true }
        }
    }

    /// Returns once a bundle is not paused.
    ///
    /// - Throws: ``ExtensionError/cancelled`` if the task is cancelled while it waits, or if
    ///   ``end(_:)`` or ``close()`` cancels the request.
    func pass(_ bundle: String) async throws(ExtensionError) {
        guard contains(bundle) else { return }
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let mayGoOn = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let known = state.withLock { state -> Bool? in
                    if state.isClosed || Task.isCancelled { return false }
                    guard state.paused.contains(bundle) else { return true }
                    state.waiting[number] = (bundle, continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.mayGoOn.resume(returning: false)
        }
        guard mayGoOn else { throw .cancelled }
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func release(_ mayGoOn: Bool, _ change: (inout State) -> ((String) -> Bool)?) {
        let released = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            guard let isMeant = change(&state) else { return [] }
            let released = state.waiting.filter { isMeant($0.value.bundle) }
            for number in released.keys { state.waiting[number] = nil }
            return released.sorted { $0.key < $1.key }.map(\.value.mayGoOn)
        }
        for one in released { one.resume(returning: mayGoOn) }
    }
}
