// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Facts about the machine and the measured build, which help to interpret the figures.
enum MachineFacts {
    static func gather(folder: String) throws -> [Fact] {
        let model = line("/proc/cpuinfo", "model name")?.split(separator: ":").last ?? "unknown"
        let memory = line("/proc/meminfo", "MemTotal:")?.split(whereSeparator: \.isWhitespace)[1]
        let governor = whole("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") ?? "unknown"
        return [
            Fact(name: "date", value: Date.now.formatted(.iso8601)),
            Fact(name: "commit", value: commit()),
            Fact(
                name: "processors",
                value: "\(ProcessInfo.processInfo.activeProcessorCount) × \(model.trimmingCharacters(in: .whitespaces))"
            ),
            Fact(name: "frequency governor", value: governor),
            Fact(name: "memory", value: "\((Int(memory ?? "") ?? 0) >> 10) MB"),
            Fact(name: "system", value: "\(system()), Linux \(whole("/proc/sys/kernel/osrelease") ?? "unknown")"),
            Fact(name: "file system", value: fileSystem(folder)),
            Fact(name: "write and fdatasync of 4 KB", value: try synchronizing(folder: folder)),
            Fact(
                name: "Swift",
                value: output(["swift", "--version"])?.split(separator: "\n").first.map(String.init) ?? "unknown"),
            Fact(name: "build", value: build),
            Fact(name: "SQLite", value: SQLiteConnection.version),
        ] + moment("start")
    }

    /// Returns facts that change during a run: the load averages over one, five and fifteen
    /// minutes, and a processor's speed. Virtual machines share processors, so the figures of two
    /// runs are comparable only if these facts are similar.
    static func moment(_ moment: String) -> [Fact] {
        let load = whole("/proc/loadavg")?.split(separator: " ").prefix(3).joined(separator: " ")
        return [
            Fact(name: "load at the \(moment)", value: load ?? "unknown"),
            Fact(name: "a million numbers sorted, at the \(moment)", value: sorting()),
        ]
    }

    /// Measures a fixed amount of work.
    private static func sorting() -> String {
        var generator = SplitMix64(seed: 1)
        let numbers = (0..<1_000_000).map { _ in generator.next() }
        let times = (0..<5).map { _ in
            ProcessCost.measure { blackHole(numbers.sorted()) }.wall * 1000
        }
        return String(format: "%.0f ms", Percentiles(times).p50)
    }

    private static var build: String {
        #if DEBUG
            "debug: figures say nothing, only some ratios do"
        #else
            "release"
        #endif
    }

    private static func whole(_ path: String) -> String? {
        (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func line(_ path: String, _ prefix: String) -> String? {
        whole(path)?.split(separator: "\n").first { $0.hasPrefix(prefix) }.map(String.init)
    }

    private static func output(_ words: [String]) -> String? {
        try? ChildProcess.output(of: "/usr/bin/env", words, standardError: .nullDevice)
    }

    private static func system() -> String {
        let name = line("/etc/os-release", "PRETTY_NAME=")?.dropFirst("PRETTY_NAME=".count) ?? "unknown"
        return name.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    }

    private static func commit() -> String {
        let git = ["git", "-C", Repository.root]
        guard let name = output(git + ["rev-parse", "--short", "HEAD"]), !name.isEmpty else { return "unknown" }
        return name + (output(git + ["status", "--porcelain"]) == "" ? "" : ", with changes")
    }

    /// Returns the file system type of the stores, and the type of the disk.
    private static func fileSystem(_ folder: String) -> String {
        guard let mount = output(["findmnt", "-nrvo", "FSTYPE,SOURCE", "--target", folder])?.split(separator: " "),
            mount.count == 2
        else { return "unknown" }
        let name = mount[1].split(separator: "/").last ?? ""
        let disk =
            switch whole("/sys/class/block/\(name)/queue/rotational") {
            case "0": " (solid state)"
            case "1": " (rotational, or virtual)"
            default: ""
            }
        return "\(mount[0]) on \(mount[1])\(disk)"
    }

    private static func synchronizing(folder: String) throws -> String {
        let path = folder + "/synchronizing"
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BenchmarkError("\(path) cannot be written: \(String(cString: strerror(errno))).") }
        defer {
            close(file)
            unlink(path)
        }
        let page = [UInt8](repeating: 0x5A, count: 4096)
        var times: [Double] = []
        for _ in 0..<100 {
            let cost = ProcessCost.measure { if write(file, page, page.count) == page.count { fdatasync(file) } }
            times.append(cost.wall * 1000)
        }
        let times95 = Percentiles(times)
        return String(format: "p50 %.2f ms, p95 %.2f ms", times95.p50, times95.p95)
    }
}
