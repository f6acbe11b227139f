// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import ServiceMessages

/// What the kernel says of a process.
struct ProcessFacts {
    let identifier: pid_t

    /// `R`, `S`, `T` and so on; `nil` if there is none, or only its end to be waited for.
    var state: Character? {
        guard let text = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")"), let state = text[end...].dropFirst(2).first, state != "Z"
        else { return nil }
        return state
    }

    /// The processor time of all of its threads, in nanoseconds.
    var processorTime: Int {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(identifier, &clock) == 0, clock_gettime(clock, &time) == 0 else { return -1 }
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Returns when it stands still or has ended; on a busy machine it comes to that late.
    func waitForStop() async { while state != nil, !isStopped { await Task.yield() } }

    /// Whether each of its threads stands still; those in the idle class come to that one after the other.
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

    /// Returns when it has ended.
    func waitForEnd() async { while state != nil { await Task.yield() } }
}

extension Harness {
    /// Installs the fixture `background`, which does what a mode says; and gives back its identifier.
    func installBackground(_ mode: String) throws -> String {
        let bundle = try installFixture("background")
        try Data("\(mode)\n".utf8).write(to: URL(filePath: marks + "/\(bundle).searchext.mode"))
        return bundle
    }

    /// How many items extensions have donated.
    var donatedItems: Int {
        recordedEvents.reduce(0) { count, event in
            if case .donated(_, let items) = event { count + items } else { count }
        }
    }

    /// The last worker that was started.
    var lastWorker: ProcessFacts { ProcessFacts(identifier: workers.last ?? -1) }
}

extension ThrottleNotice {
    /// Somebody is back.
    static let back = ThrottleNotice(reason: .userActive)
}
