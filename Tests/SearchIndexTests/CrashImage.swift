// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Synchronization
import TestSupport

@testable import SearchIndex

/// Copies a store's files when a chosen transaction starts, as a crash at that point would leave
/// them.
final class CrashImage: Sendable {
    private struct State {
        var source = ""
        var target: TemporaryFolder?
        /// The number of transactions before the copy is made.
        var countdown = 0
        var isTaken = false
    }
    private let state = Mutex(State())

    /// Observes a store's transactions.
    func watch(_ seams: inout StoreHooks) {
        seams.prepareDatabase = { [self] db in
            db.trace { [self] event in
                if "\(event)".hasPrefix("BEGIN IMMEDIATE") { beginsTransaction() }
            }
        }
    }

    /// Requests a copy at the start of the transaction that follows `count` others.
    func arm(_ source: String, after count: Int) throws {
        let target = try TemporaryFolder()
        state.withLock { $0 = State(source: source, target: target, countdown: count) }
    }

    /// Returns the copy, and makes it now if the chosen transaction has not started.
    func take() throws -> TemporaryFolder? {
        try state.withLock { state in
            if !state.isTaken { try Self.copy(&state) }
            return state.target
        }
    }

    private func beginsTransaction() {
        state.withLock { state in
            guard state.target != nil, !state.isTaken else { return }
            state.countdown -= 1
            if state.countdown < 0 { try? Self.copy(&state) }
        }
    }

    private static func copy(_ state: inout State) throws {
        guard let target = state.target else { return }
        state.isTaken = true
        for name in try SampleStore.names(in: state.source) where !name.hasSuffix("-shm") {
            let path = target.path("store/" + name)
            try FileManager.default.createDirectory(
                at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try FileManager.default.copyItem(atPath: state.source + "/" + name, toPath: path)
        }
    }
}
