// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A process as seen in `/proc`.
struct ProcessView: Sendable {
    let identifier: Int32

    /// The resident private memory, in KiB; `nil` if it cannot be read.
    var anonymousMemory: Int? { status("RssAnon") ?? status("VmRSS") }
    var threads: Int? { status("Threads") }
    /// The number of open descriptors; `nil` if they cannot be listed.
    var descriptors: Int? { try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count }
    /// `true` if the process is alive and not a zombie.
    var isAlive: Bool {
        guard let text = text("stat"), let end = text.lastIndex(of: ")") else { return false }
        return !text[end...].hasPrefix(") Z") && !text[end...].hasPrefix(") X")
    }

    private func text(_ name: String) -> String? {
        // Read without a size, because these files report a size of 0.
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

    /// The current descendants of the process.
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
