// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A process as `/proc` shows it.
struct ProcessView: Sendable {
    let identifier: Int32

    /// What of its memory is its own and in use, in KiB; `nil` if it cannot be read.
    var anonymousMemory: Int? { status("RssAnon") ?? status("VmRSS") }
    var threads: Int? { status("Threads") }
    /// How many descriptors it has open; `nil` if that is not shown.
    var descriptors: Int? { try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count }
    /// Whether it lives, and is more than a name waiting for its parent.
    var isAlive: Bool {
        guard let text = text("stat"), let end = text.lastIndex(of: ")") else { return false }
        return !text[end...].hasPrefix(") Z") && !text[end...].hasPrefix(") X")
    }

    private func text(_ name: String) -> String? {
        // Read as it is: such files say that they are empty.
        guard let file = FileHandle(forReadingAtPath: "/proc/\(identifier)/\(name)") else { return nil }
        defer { try? file.close() }
        return (try? file.readToEnd()).flatMap { String(decoding: $0, as: UTF8.self) }
    }

    private func status(_ key: String) -> Int? {
        guard let line = text("status")?.split(separator: "\n").first(where: { $0.hasPrefix(key + ":") }) else {
            return nil
        }
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
    }

    /// The processes that descend from it, at this moment.
    var descendants: [ProcessView] {
        let all = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
        var children: [Int32: [Int32]] = [:]
        for process in all {
            guard let text = ProcessView(identifier: process).text("stat"), let end = text.lastIndex(of: ")") else {
                continue
            }
            let fields = text[end...].split(separator: " ")
            if fields.count > 2, let parent = Int32(fields[2]) { children[parent, default: []].append(process) }
        }
        var found: [ProcessView] = []
        var waiting = children[identifier] ?? []
        while let next = waiting.popLast(), found.count < 1000 {
            found.append(ProcessView(identifier: next))
            waiting += children[next] ?? []
        }
        return found
    }
}
