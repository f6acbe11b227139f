// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What one has to know of the machine to read the figures.
enum MachineFacts {
    static func gather(folder: String) throws -> [Fact] {
        func line(_ path: String, _ prefix: String) -> String? {
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").first { $0.hasPrefix(prefix) }.map(String.init)
        }
        let model = line("/proc/cpuinfo", "model name")?.split(separator: ":").last ?? "unknown"
        let memory = line("/proc/meminfo", "MemTotal:")?.split(whereSeparator: \.isWhitespace)[1]
        let load = line("/proc/loadavg", "")?.split(separator: " ").prefix(3).joined(separator: " ")
        let kernel = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        return [
            Fact(name: "processor", value: model.trimmingCharacters(in: .whitespaces)),
            Fact(name: "cores", value: "\(ProcessInfo.processInfo.activeProcessorCount)"),
            Fact(name: "memory", value: "\((Int(memory ?? "") ?? 0) >> 10) MB"),
            Fact(name: "load at the start", value: load ?? "unknown"),
            Fact(name: "kernel", value: kernel?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"),
            Fact(name: "SQLite", value: SQLiteConnection.version),
            Fact(name: "write and fdatasync of 4 KB", value: try synchronizing(folder: folder)),
        ]
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
