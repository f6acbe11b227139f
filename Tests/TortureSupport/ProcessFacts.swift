// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The resources of a process, from `/proc`.
public struct ProcessFacts: Sendable, CustomStringConvertible {
    public var descriptors: Int
    public var threads: Int
    /// The number of children, including zombies.
    public var children: Int

    /// Reads the current values; -1 for a process that no longer exists.
    public init(_ process: Int32) {
        func count(_ name: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/\(name)"))?.count ?? -1
        }
        descriptors = count("fd")
        threads = count("task")
        children = Self.children(of: process).count
    }

    public var description: String { "\(descriptors) descriptors, \(threads) threads, \(children) children" }

    /// The allowance for threads in the Dispatch and Swift pools, which appear and disappear. A
    /// leak exceeds it.
    private static let pooledThreads = 12
    /// The allowance for descriptors and threads per living worker.
    private static let perWorker = 10

    /// Returns `true` if the values do not exceed the earlier ones. Without earlier values, returns
    /// `true` if there is no child.
    public func isNoMore(than before: ProcessFacts?, workersMayLive: Bool) -> Bool {
        guard workersMayLive || children == 0 else { return false }
        guard let before else { return descriptors > 0 }
        let living = workersMayLive ? children * Self.perWorker : 0
        return descriptors > 0 && descriptors <= before.descriptors + living
            && threads <= before.threads + living + Self.pooledThreads
    }

    /// Returns the current anonymous memory and the peak resident memory in KiB; `nil` if the
    /// process has exited.
    public static func memory(of process: Int32) -> (now: Int, peak: Int)? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
        func value(_ name: String) -> Int? {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        }
        guard let now = value("RssAnon"), let peak = value("VmHWM") else { return nil }
        return (now, peak)
    }

    /// Returns all descendants of a process, including zombies.
    public static func descendants(of parent: Int32) -> [Int32] {
        let children = children(of: parent)
        return children + children.flatMap { descendants(of: $0) }
    }

    /// Returns the children of a process.
    public static func children(of parent: Int32) -> [Int32] { all(below: parent).map(\.process) }

    /// Returns the children that are zombies.
    public static func ended(childrenOf parent: Int32) -> [Int32] {
        all(below: parent).filter { $0.state == "Z" }.map(\.process)
    }

    private static func all(below parent: Int32) -> [(process: Int32, state: Substring)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { name in
            guard let process = Int32(name),
                let line = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
            else { return nil }
            // The name of the program, in parentheses, may contain any character.
            let end = line.lastIndex(of: ")") ?? line.startIndex
            let fields = line[end...].split(separator: " ")
            guard fields.count > 2, Int32(fields[2]) == parent else { return nil }
            return (process, fields[1])
        }
    }
}
