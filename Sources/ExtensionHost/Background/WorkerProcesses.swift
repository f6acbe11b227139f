// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The host's worker processes that are not reaped yet, and the cost of all workers.
final class WorkerProcesses: Sendable {
    private struct Entry {
        let process: WorkerProcess
        let bundle: String
        let origin: RequestOrigin
    }
    private struct State {
        var running: [pid_t: Entry] = [:]
        /// The cost of exited workers, by origin and bundle, plus the bytes that the host wrote for
        /// any worker's donations.
        var ended: [RequestOrigin: [String: WorkerUsage]] = [:]
    }
    private let state = Mutex(State())

    /// Tracks a process until it exits.
    func add(_ process: WorkerProcess, bundle: String, _ origin: RequestOrigin) {
        let number = process.identifier
        state.withLock { $0.running[number] = Entry(process: process, bundle: bundle, origin: origin) }
        process.whenEnded { [weak self] in
            self?.state.withLock { state in
                // The kernel may have given the number to another process.
                guard state.running[number]?.process === process else { return }
                state.running[number] = nil
                let before = state.ended[origin]?[bundle] ?? WorkerUsage()
                state.ended[origin, default: [:]][bundle] = before + process.usage
            }
        }
    }

    /// Adds the bytes of a donation. The host writes at least this amount for it; a worker itself
    /// writes hardly anything.
    func note(donated bytes: Int, bundle: String, _ origin: RequestOrigin) {
        guard bytes > 0 else { return }
        state.withLock { state in
            let before = state.ended[origin]?[bundle] ?? WorkerUsage()
            state.ended[origin, default: [:]][bundle] = before + WorkerUsage(written: UInt64(bytes))
        }
    }

    /// The identifiers of the running processes, sorted.
    var identifiers: [pid_t] { state.withLock { $0.running.keys.sorted() } }

    /// Returns the cost of all workers for a bundle and an origin, or `nil` if there was none.
    func usage(of bundle: String, for origin: RequestOrigin) -> WorkerUsage? {
        state.withLock { state in
            let running = state.running.values.filter { $0.bundle == bundle && $0.origin == origin }
            let all = running.map(\.process.usage) + [state.ended[origin]?[bundle]].compactMap { $0 }
            return all.isEmpty ? nil : all.reduce(WorkerUsage(), +)
        }
    }
}
