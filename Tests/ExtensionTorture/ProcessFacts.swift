// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// What the kernel knows of a process, from `/proc`.
struct ProcessFacts: CustomStringConvertible {
    var descriptors: Int
    var threads: Int
    /// Its children, those that have ended and wait to be reaped too.
    var children: Int

    init(_ process: Int32) {
        func count(_ name: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/\(name)"))?.count ?? -1
        }
        descriptors = count("fd")
        threads = count("task")
        children = Self.children(of: process).count
    }

    var description: String { "\(descriptors) descriptors, \(threads) threads, \(children) children" }

    /// Threads of the pools of Dispatch and of Swift come and go; those of a leak only come.
    private static let pooledThreads = 12
    /// Descriptors and threads that a living worker takes in its host.
    private static let perWorker = 10

    /// Whether there is nothing more than there was; without an earlier state, whether there is no child.
    func isNoMore(than before: ProcessFacts?, workersMayLive: Bool) -> Bool {
        guard workersMayLive || children == 0 else { return false }
        guard let before else { return descriptors > 0 }
        let living = workersMayLive ? children * Self.perWorker : 0
        return descriptors > 0 && descriptors <= before.descriptors + living
            && threads <= before.threads + living + Self.pooledThreads
    }

    /// The processes whose parent a process is.
    static func children(of parent: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { name in
            guard let process = Int32(name),
                let line = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
            else { return nil }
            // The name of the program, in parentheses, may have anything in it.
            let fields = line[(line.lastIndex(of: ")") ?? line.startIndex)...].split(separator: " ")
            return fields.count > 2 && Int32(fields[2]) == parent ? process : nil
        }
    }
}
