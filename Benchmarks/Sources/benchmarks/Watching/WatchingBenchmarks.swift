// SPDX-License-Identifier: Apache-2.0
import FileWatching
import Foundation
import Glibc
import Synchronization

/// Measures the cost of watching 100,000 files in 10,000 folders: detecting at a start that nothing
/// changed, and the idle cost.
struct WatchingBenchmarks {
    var folder: String
    /// `true` for fewer files and a shorter idle time.
    var isShort: Bool

    private static let owner = "org.example.notes"
    private static let filesInFolder = 10
    private var folders: Int { isShort ? 500 : 10_000 }
    private var files: Int { folders * Self.filesInFolder }
    private var quietSeconds: Int { isShort ? 2 : 10 }
    private static let repetitions = 5

    func run() throws -> [Measurement] {
        let place = URL(filePath: folder).standardizedFileURL.path + "/watching"
        try? FileManager.default.removeItem(atPath: place)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let (root, store) = (place + "/files", place + "/store")
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
        for number in 0..<folders { try makeFolder(number, in: root) }
        let path = store + "/files.sqlite"

        var found = 0
        let first = try seconds {
            let snapshot = try FileSnapshot(path: path)
            try snapshot.setTrees([WatchedTree(owner: Self.owner, root: root)])
            found = try compare(snapshot)
        }
        guard found == files else { throw BenchmarkError("\(found) of \(files) files were found.") }
        let told = try seconds {
            let snapshot = try FileSnapshot(path: path)
            while case .changes(let changes) = try snapshot.changes(of: Self.owner, limit: 1000) {
                try snapshot.acknowledge(changes)
            }
        }
        let afterwards = try seconds { _ = try compare(try FileSnapshot(path: path)) }
        let catchUps = try (0..<Self.repetitions).map { _ in
            try seconds { _ = try compare(try FileSnapshot(path: path)) }
        }.sorted()
        let looks = (0..<Self.repetitions).map { _ in seconds { look(root) } }.sorted()
        return [
            row("\(files) files, none of them known", first),
            row("\(files) changes handed out and acknowledged", told),
            row("\(files) files, compared after that", afterwards),
            Measurement(
                name: "catch-up over \(files) unchanged files", value: catchUps[Self.repetitions / 2] * 1000,
                unit: "ms",
                baseline: "each folder listed, each file looked at", baselineValue: looks[Self.repetitions / 2] * 1000,
                row: .catchUp),
        ] + (try watching(path))
    }

    private func row(_ name: String, _ seconds: Double) -> Measurement {
        Measurement(name: name, value: seconds * 1000, unit: "ms")
    }

    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    private func compare(_ snapshot: FileSnapshot) throws -> Int {
        var files = 0
        for tree in try snapshot.trees() { files += try snapshot.compare(tree).files }
        return files
    }

    private func makeFolder(_ number: Int, in root: String) throws {
        let folder = root + "/\(number / 100)/\(number % 100)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for file in 0..<Self.filesInFolder {
            let made = open("\(folder)/a note with some title \(file).md", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard made >= 0 else {
                throw BenchmarkError("A file could not be created: \(String(cString: strerror(errno)))")
            }
            close(made)
        }
    }

    /// Reads the folders and calls lstat(2) for each file, which any scan must do.
    private func look(_ path: String) {
        guard let folder = opendir(path), let start = MemoryLayout<dirent>.offset(of: \.d_name) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self)
            if entry.pointee.d_type == UInt8(DT_DIR) {
                if name.pointee != CChar(UInt8(ascii: ".")) { look(path + "/" + String(cString: name)) }
            } else {
                var status = stat()
                blackHole(fstatat(dirfd(folder), name, &status, AT_SYMLINK_NOFOLLOW))
            }
        }
    }

    // MARK: Watching

    private func watching(_ path: String) throws -> [Measurement] {
        let before = Self.privateMemory
        let snapshot = try FileSnapshot(path: path)
        let latest = Mutex<FileWatcher.Status?>(nil)
        let settled = DispatchSemaphore(value: 0)
        let hasSettled = Mutex(false)
        let start = ContinuousClock.now
        let watcher = try FileWatcher(snapshot: snapshot) { status in
            latest.withLock { $0 = status }
            guard status.isUpToDate else { return }
            let isFirst = hasSettled.withLock { hasSettled in
                defer { hasSettled = true }
                return !hasSettled
            }
            if isFirst { settled.signal() }
        }
        defer { watcher.end() }
        watcher.watch(try snapshot.trees().map(\.rule))
        guard settled.wait(timeout: .now() + 120) == .success else {
            throw BenchmarkError("The tree was not compared within two minutes.")
        }
        let starting = (ContinuousClock.now - start) / .seconds(1)
        guard let status = latest.withLock({ $0 }) else { throw BenchmarkError("There was no status.") }
        guard status.unwatchedFolders == 0 else {
            throw BenchmarkError(
                "\(status.unwatchedFolders) folders cannot be watched; see fs.inotify.max_user_watches.")
        }
        let memory = Self.privateMemory - before
        // Waits until the work at the start is done.
        Thread.sleep(forTimeInterval: 1)
        let switches = Self.switches
        Thread.sleep(forTimeInterval: Double(quietSeconds))
        let wakeUps = Self.switches - switches
        return [
            row("\(status.folders) folders watched, with a catch-up", starting),
            Measurement(
                name: "private memory of watching \(status.folders) folders", value: memory, unit: "MiB",
                row: .watchingMemory),
            Measurement(
                name: "wake-ups of watching in \(quietSeconds) s", value: Double(wakeUps), unit: "",
                row: .watchingWakeUps),
        ]
    }

    /// The private memory of this process, in MiB.
    private static var privateMemory: Double {
        let lines = (try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8))?.split(separator: "\n")
        return (lines ?? []).filter { $0.hasPrefix("Private_") }
            .compactMap { Double($0.split(separator: " ").dropFirst().first ?? "") }.reduce(0, +) / 1024
    }

    /// The number of voluntary and involuntary context switches of the watcher threads.
    private static var switches: Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.map { task -> Int in
            let status = (try? String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8)) ?? ""
            guard status.hasPrefix("Name:\tfile-watch") else { return 0 }
            return status.split(separator: "\n").filter { $0.contains("voluntary_ctxt_switches:") }
                .compactMap { Int($0.split(whereSeparator: \.isWhitespace).last ?? "") }.reduce(0, +)
        }.reduce(0, +)
    }
}
