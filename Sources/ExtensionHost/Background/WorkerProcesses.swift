// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The processes of a host's workers, from their start until they were reaped, and what they have cost.
final class WorkerProcesses: Sendable {
    private struct Entry {
        let process: WorkerProcess
        let bundle: String
        let origin: RequestOrigin
    }
    private struct State {
        var running: [pid_t: Entry] = [:]
        /// What workers that have ended had cost, by bundle, and what the host wrote for any.
        var ended: [RequestOrigin: [String: WorkerUsage]] = [:]
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
                let before = state.ended[origin]?[bundle] ?? WorkerUsage()
                state.ended[origin, default: [:]][bundle] = before + process.usage
            }
        }
    }

    /// Notes what was donated: the host writes at least as much for it, and a worker hardly anything itself.
    func note(donated bytes: Int, bundle: String, _ origin: RequestOrigin) {
        guard bytes > 0 else { return }
        state.withLock { state in
            let before = state.ended[origin]?[bundle] ?? WorkerUsage()
            state.ended[origin, default: [:]][bundle] = before + WorkerUsage(written: UInt64(bytes))
        }
    }

    /// The numbers of those that run.
    var identifiers: [pid_t] { state.withLock { $0.running.keys.sorted() } }

    /// What all workers of a bundle have cost that are asked by an origin; `nil` if there was none.
    func usage(of bundle: String, for origin: RequestOrigin) -> WorkerUsage? {
        state.withLock { state in
            let running = state.running.values.filter { $0.bundle == bundle && $0.origin == origin }
            let all = running.map(\.process.usage) + [state.ended[origin]?[bundle]].compactMap { $0 }
            return all.isEmpty ? nil : all.reduce(WorkerUsage(), +)
        }
    }
}
