// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// What the kernel knows of a process, from `/proc`.
public struct ProcessFacts: Sendable, CustomStringConvertible {
    public var descriptors: Int
    public var threads: Int
    /// Its children, those that have ended and wait to be reaped too.
    public var children: Int

    /// What a process has now; -1 of what it has no more.
    public init(_ process: Int32) {
        func count(_ name: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/\(name)"))?.count ?? -1
        }
        descriptors = count("fd")
        threads = count("task")
        children = Self.children(of: process).count
    }

    public var description: String { "\(descriptors) descriptors, \(threads) threads, \(children) children" }

    /// Threads of the pools of Dispatch and of Swift come and go; those of a leak only come.
    private static let pooledThreads = 12
    /// Descriptors and threads that a living worker takes in its host.
    private static let perWorker = 10

    /// Whether there is nothing more than there was; without an earlier state, whether there is no child.
    public func isNoMore(than before: ProcessFacts?, workersMayLive: Bool) -> Bool {
        guard workersMayLive || children == 0 else { return false }
        guard let before else { return descriptors > 0 }
        let living = workersMayLive ? children * Self.perWorker : 0
        return descriptors > 0 && descriptors <= before.descriptors + living
            && threads <= before.threads + living + Self.pooledThreads
    }

    /// Its memory in KiB that is no file's, now and at most so far; `nil` if it is no more.
    public static func memory(of process: Int32) -> (now: Int, peak: Int)? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
        func value(_ name: String) -> Int? {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        }
        guard let now = value("RssAnon"), let peak = value("VmHWM") else { return nil }
        return (now, peak)
    }

    /// All processes below a process, those that have ended and wait to be reaped too.
    public static func descendants(of parent: Int32) -> [Int32] {
        let children = children(of: parent)
        return children + children.flatMap { descendants(of: $0) }
    }

    /// The processes whose parent a process is.
    public static func children(of parent: Int32) -> [Int32] { all(below: parent).map(\.process) }

    /// Those of them that have ended and wait to be reaped.
    public static func ended(childrenOf parent: Int32) -> [Int32] {
        all(below: parent).filter { $0.state == "Z" }.map(\.process)
    }

    private static func all(below parent: Int32) -> [(process: Int32, state: Substring)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { name in
            guard let process = Int32(name),
                let line = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
            else { return nil }
            // The name of the program, in parentheses, may have anything in it.
            let end = line.lastIndex(of: ")") ?? line.startIndex
            let fields = line[end...].split(separator: " ")
            guard fields.count > 2, Int32(fields[2]) == parent else { return nil }
            return (process, fields[1])
        }
    }
}
