// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The processes of a host's workers, from their start until they were reaped, and what those in the background have cost.
final class WorkerProcesses: Sendable {
    private struct Entry {
        let process: WorkerProcess
        let bundle: String
        let origin: RequestOrigin
    }
    private struct State {
        var running: [pid_t: Entry] = [:]
        /// What workers that have ended had cost, by bundle, and what the host wrote for any.
        var ended: [String: WorkerUsage] = [:]
    }
    private let state = Mutex(State())

    /// Notes a process until it ends.
    func add(_ process: WorkerProcess, bundle: String, _ origin: RequestOrigin) {
        let number = process.identifier
        state.withLock { $0.running[number] = Entry(process: process, bundle: bundle, origin: origin) }
        process.whenEnded { [weak self] in
            self?.state.withLock { state in
                // The number may be another's by now.
                guard state.running[number]?.process === process else { return }
                state.running[number] = nil
                guard origin == .background else { return }
                state.ended[bundle] = (state.ended[bundle] ?? WorkerUsage()) + process.usage
            }
        }
    }

    /// Notes what was donated in the background: the host writes at least as much for it, and a worker hardly anything itself.
    func note(donated bytes: Int, bundle: String, _ origin: RequestOrigin) {
        guard origin == .background, bytes > 0 else { return }
        state.withLock { state in
            state.ended[bundle] = (state.ended[bundle] ?? WorkerUsage()) + WorkerUsage(written: UInt64(bytes))
        }
    }

    /// The numbers of those that run.
    var identifiers: [pid_t] { state.withLock { $0.running.keys.sorted() } }

    /// What all background workers of a bundle have cost; `nil` if there was none.
    func usage(ofBackground bundle: String) -> WorkerUsage? {
        state.withLock { state in
            let running = state.running.values.filter { $0.bundle == bundle && $0.origin == .background }
            let all = running.map(\.process.usage) + [state.ended[bundle]].compactMap { $0 }
            return all.isEmpty ? nil : all.reduce(WorkerUsage(), +)
        }
    }
}
