// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Lets one large donation through at a time, of all clients, in the order in which they come: while it is decoded, checked
/// and logged it takes several times its size. Small ones do not wait for it.
final class LargeDonations: Sendable {
    /// Donations of up to so many bytes are small.
    static let smallBytes = 1 << 20

    private struct State {
        var isTaken = false
        var line: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    /// Keeps a donation of a size.
    ///
    /// - Throws: What `body` throws.
    func during<Value, Failure: Error>(
        _ bytes: Int, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard bytes > Self.smallBytes else { return try await body() }
        await take()
        defer { give() }
        return try await body()
    }

    /// Lets others through during a long wait in ``during(_:_:)``, until ``resume(_:)`` is called.
    func pause(_ bytes: Int) {
        if bytes > Self.smallBytes { give() }
    }

    /// Ends that.
    func resume(_ bytes: Int) async {
        if bytes > Self.smallBytes { await take() }
    }

    private func take() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.line.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func give() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.line.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.line.removeFirst()
        }
        next?.resume()
    }
}
