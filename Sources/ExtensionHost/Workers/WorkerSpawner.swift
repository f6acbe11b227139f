// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Dispatch
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// The thread that starts workers. It runs until this process exits.
///
/// A worker exits with its parent (PR_SET_PDEATHSIG), and for the kernel the parent is the thread
/// that started it. A thread in a pool may end earlier.
final class WorkerSpawner: Sendable {
    static let shared = WorkerSpawner()

    private typealias Job = @Sendable () -> Void
    private let jobs = Mutex<[Job]>([])
    private let work = DispatchSemaphore(value: 0)
    private let hasThread = Mutex(false)

    private init() {}

    /// Starts the thread, unless it is running.
    ///
    /// - Returns: 0, or the errno of the failure; the next call tries again.
    private func start() -> Int32 {
        hasThread.withLock { hasThread in
            guard !hasThread else { return 0 }
            let result = OwnThread.start("worker-start") { [self] in
                while true {
                    work.wait()
                    let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                    job?()
                }
            }
            hasThread = result == 0
            return result
        }
    }

    /// Starts a program; see `csandbox_spawn`. Blocks for about a millisecond.
    ///
    /// - Returns: 0 and the process identifier, or an errno.
    func spawn(
        _ path: String, environment: [String], connection: Int32, policy: Int32, output: Int32, ownSession: Bool
    ) -> (code: Int32, process: pid_t) {
        let code = start()
        guard code == 0 else { return (code, 0) }
        let result = Result()
        jobs.withLock {
            $0.append {
                var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), nil]
                var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
                defer { (arguments + variables).forEach { free($0) } }
                var process: pid_t = 0
                let code = csandbox_spawn(
                    path, &arguments, &variables, connection, policy, output, ownSession ? 1 : 0, &process)
                result.value.withLock { $0 = (code, process) }
                result.isThere.signal()
            }
        }
        work.signal()
        result.isThere.wait()
        return result.value.withLock { $0 }
    }

    private final class Result: Sendable {
        let value = Mutex<(code: Int32, process: pid_t)>((EAGAIN, 0))
        let isThere = DispatchSemaphore(value: 0)
    }
}
