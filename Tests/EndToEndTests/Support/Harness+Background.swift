// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import ServiceMessages

/// The state of a process, from `/proc`.
struct ProcessFacts {
    let identifier: pid_t

    /// The state character: `R`, `S`, `T` and so on; `nil` if the process does not exist or is a
    /// zombie.
    var state: Character? {
        guard let text = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")"), let state = text[end...].dropFirst(2).first, state != "Z"
        else { return nil }
        return state
    }

    /// The CPU time of all threads, in nanoseconds.
    var processorTime: Int {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(identifier, &clock) == 0, clock_gettime(clock, &time) == 0 else { return -1 }
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Returns when the process is stopped or has ended. A stop may take long on a busy machine.
    func waitForStop() async { while state != nil, !isStopped { await Task.yield() } }

    /// `true` if each thread is stopped. Threads at idle priority stop one at a time.
    private var isStopped: Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/task")) ?? []
        return !threads.isEmpty
            && threads.allSatisfy { thread in
                let path = "/proc/\(identifier)/task/\(thread)/stat"
                guard let text = try? String(contentsOfFile: path, encoding: .utf8), let end = text.lastIndex(of: ")")
                else { return false }
                return text[end...].dropFirst(2).first == "T"
            }
    }

    /// Returns when the process has ended.
    func waitForEnd() async { while state != nil { await Task.yield() } }
}

extension Harness {
    /// Installs the fixture `background`, whose behavior the mode selects, and returns its
    /// identifier.
    func installBackground(_ mode: String) throws -> String {
        let bundle = try installFixture("background")
        try Data("\(mode)\n".utf8).write(to: URL(filePath: marks + "/\(bundle).searchext.mode"))
        return bundle
    }

    /// The number of items that extensions have donated.
    var donatedItems: Int {
        recordedEvents.reduce(0) { count, event in
            if case .donated(_, let items) = event { count + items } else { count }
        }
    }

    /// The last started worker.
    var lastWorker: ProcessFacts { ProcessFacts(identifier: workers.last ?? -1) }
}

extension ThrottleNotice {
    /// The notice that the user has returned.
    static let back = ThrottleNotice(reason: .userActive)
}
