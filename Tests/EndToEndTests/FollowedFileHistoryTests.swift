// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import IdleScheduling
import ItemRecord
import SearchIndex
import TestSupport
import TortureSupport
import Testing

@testable import SearchlightEngine

/// Random file changes while a service follows them and is killed. When no work is left, the index
/// equals the index after a full reindex. To run longer: `SEARCHLIGHT_HISTORIES=12
/// SEARCHLIGHT_HISTORY_STEPS=200 SEARCHLIGHT_HISTORY_KILLS=10 SEED=200`.
@Suite("Histories of followed files", .timeLimit(.minutes(60)))
struct FollowedFileHistoryTests {
    @Test(
        "At rest the index equals a new reindex, with any process killed", arguments: FileHistory.seeds
    )
    func histories(seed: UInt64) async throws { try await FileHistory(seed: seed).run() }

    @Test(
        "The same with a disk that is mounted and unmounted, lost events and a lowered limit of watches",
        .enabled(if: MountNamespace.isAllowed, "mounts, which this machine forbids"))
    func namespace() throws {
        let (ending, output) = try MountNamespace.run("FollowedFileHistoryInNamespaceTests")
        #expect(ending == .exited(0) && output.contains("Test run with 1 test"), "\(output)")
    }
}

/// Serialised, because the watch limit applies to the whole namespace.
@Suite(
    "Histories of followed files, in a namespace", .enabled(if: MountNamespace.isEntered), .serialized,
    .timeLimit(.minutes(60)))
struct FollowedFileHistoryInNamespaceTests {
    @Test("At rest the index equals a new reindex, after any changes of the disk", arguments: FileHistory.seeds)
    func histories(seed: UInt64) async throws { try await FileHistory(seed: seed, hasDisk: true).run() }
}

/// Changes to a user's notes while a service follows them.
private struct FileHistory {
    let seed: UInt64
    /// `true` if one of the folders is a separate disk and the kernel's limits change, which is
    /// only possible in a namespace.
    var hasDisk = false

    /// A disk that is mounted only at times.
    private struct Disk {
        let storage: String
        let point: String
        private(set) var isMounted = false

        init(storage: String, point: String, isOfItsOwn: Bool) throws {
            (self.storage, self.point) = (storage, point)
            mkdir(storage, 0o700)
            if isOfItsOwn { try #require(Glibc.mount("none", storage, "tmpfs", 0, nil) == 0) }
            mount()
            try #require(isMounted)
        }

        mutating func mount() {
            if !isMounted { isMounted = Glibc.mount(storage, point, nil, UInt(MS_BIND), nil) == 0 }
        }

        mutating func toggle() { if isMounted { unmount() } else { mount() } }

        /// Has no effect while a file on the disk is open.
        mutating func unmount() { if isMounted { isMounted = umount2(point, 0) != 0 } }

        /// The current path of the disk's files.
        var path: String { isMounted ? point : storage }
    }

    /// A user's folder of notes, which is changed at random.
    private struct Folder {
        let root: String
        /// Another disk, which is in the list of folders at times.
        private let other: String
        var disk: Disk?
        /// The list of folders.
        var list = ""
        var random: SplitMix64
        private var serial = 0

        init(root: String, other: String, storage: String?, seed: UInt64) throws {
            (self.root, self.other, random) = (root, other, SplitMix64(seed: seed))
            for path in [root, other] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            if let storage { disk = try Disk(storage: storage, point: other, isOfItsOwn: seed % 2 == 1) }
        }

        private var tops: [String] { [root, disk?.path ?? other] }

        private mutating func word() -> String {
            serial += 1
            return "w\(serial)"
        }

        /// Returns the paths of the existing folders and files.
        private func found() -> (folders: [String], files: [String]) {
            var (folders, files) = (tops, [String]())
            for top in tops {
                let names = FileManager.default.enumerator(atPath: top)?.compactMap { $0 as? String } ?? []
                for name in names.sorted() {
                    var status = stat()
                    guard lstat(top + "/" + name, &status) == 0 else { continue }
                    if status.st_mode & S_IFMT == S_IFDIR {
                        folders.append(top + "/" + name)
                    } else {
                        files.append(top + "/" + name)
                    }
                }
            }
            return (folders, files)
        }

        private func write(_ text: String, _ path: String) { try? Data(text.utf8).write(to: URL(filePath: path)) }

        private mutating func text() -> String { "# \(word())\n\n\(word()) \(word())\n" }

        private mutating func pick(_ paths: [String]) -> String { paths[random.below(paths.count)] }

        /// Creates more events than the kernel queues for a slow reader.
        func flood() {
            let paths = ["a", "b"].map { root + "/.flood-" + $0 }
            for path in paths { write("", path) }
            for number in 0..<24_000 { chmod(paths[number % 2], 0o600) }
            for path in paths { unlink(path) }
        }

        mutating func step() {
            if disk != nil, random.below(12) == 0 { return disk?.toggle() ?? () }
            let (folders, files) = found()
            let new = pick(folders) + "/" + word() + [".md", ".md", ".txt", ".png"][random.below(4)]
            switch random.below(17) {
            case 0, 1, 2: write(text(), new)
            case 3: if folders.count < 12 { mkdir(pick(folders) + "/" + word(), 0o755) }
            case 4: if files.isEmpty { write(text(), new) } else { write(text(), pick(files)) }
            // An editor that writes a temporary file next to the note, and renames it over the
            // note.
            case 5:
                guard !files.isEmpty else { return }
                let path = pick(files)
                write(text(), path + ".tmp~")
                rename(path + ".tmp~", path)
            // A save that keeps the old file under a new name.
            case 6:
                guard !files.isEmpty else { return }
                let path = pick(files)
                rename(path, path + "~")
                write(text(), path)
                unlink(path + "~")
            // A file that is written in several parts.
            case 7:
                guard let file = fopen(new, "w") else { return }
                for _ in 0..<3 {
                    fputs(text(), file)
                    fflush(file)
                }
                fclose(file)
            case 8, 9: if !files.isEmpty { rename(pick(files), new) }
            case 10:
                guard folders.count > 2 else { return }
                let folder = pick(Array(folders.dropFirst(2)))
                let target = pick(folders)
                if !target.hasPrefix(folder) { rename(folder, target + "/" + word()) }
            case 11: if !files.isEmpty { unlink(pick(files)) }
            case 12:
                if folders.count > 6 { try? FileManager.default.removeItem(atPath: pick(Array(folders.dropFirst(2)))) }
            case 13: if !files.isEmpty { chmod(pick(files), [0o600, 0o644][random.below(2)]) }
            case 14: if !files.isEmpty { link(pick(files), new) }
            // Saved as by an editor, so that the list always exists.
            case 15:
                guard random.below(4) == 0 else { return }
                write([root, root + "\n" + other, "# Notes\n" + other][random.below(3)] + "\n", list + ".new")
                rename(list + ".new", list)
            default:
                guard !files.isEmpty else { return }
                let (one, other) = (pick(files), pick(files))
                let between = root + "/.swap"
                rename(one, between)
                rename(other, one)
                rename(between, other)
            }
        }
    }

    private static func number(_ name: String, _ standard: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? standard
    }

    static let seeds = (0..<number("SEARCHLIGHT_HISTORIES", 3)).map { UInt64(number("SEED", 1) + $0) }

    /// Returns a bundle's items in a store's index, by path.
    private static func items(_ store: String, _ harness: Harness, _ bundle: String) async throws -> [String:
        ItemRecord]?
    {
        var configuration = EngineConfiguration(
            storeDirectory: store, access: .readOnly, extensionSearchPath: [harness.extensions],
            worker: try harness.workerConfiguration())
        configuration.bootClock = .system
        guard let engine = try? SearchlightEngine(configuration) else { return nil }
        var items: [String: ItemRecord] = [:]
        var cursor: QueryCursor?
        repeat {
            let page = try await engine.perform(ItemsCall(query: .all, bundle: bundle, limit: 1000, cursor: cursor))
            for item in page.items { items[item.record.uniqueIdentifier] = item.record }
            cursor = page.next
        } while cursor != nil
        await engine.close()
        return items
    }

    /// The maximum number of watches for the user of this namespace.
    private static let limit = "/proc/sys/user/max_inotify_watches"

    private static func setLimit(_ limit: String?) throws {
        try Data((limit ?? "").utf8).write(to: URL(filePath: Self.limit))
    }

    func run() async throws {
        let harness = try Harness()
        var folder = try Folder(
            root: harness.folder + "/notes", other: harness.folder + "/others",
            storage: hasDisk ? harness.folder + "/storage" : nil, seed: seed)
        let bundle = try harness.installJournal(notes: folder.root)
        folder.list = harness.folder + "/config/\(bundle)/folders"
        let gates = Gate.allCases.filter { $0.isSwitchable && $0 != .inhibited }.map { "\"\($0.code)\": false" }
        let policy = harness.folder + "/policy.json"
        try Data("{\"pause.shortest\": 0, \"gates\": {\(gates.joined(separator: ", "))}}".utf8)
            .write(to: URL(filePath: policy))
        let command = Command(harness: harness, variables: ["SEARCHLIGHT_SCHEDULING": policy])
        let log = harness.folder + "/log"
        try #require(FileManager.default.createFile(atPath: log, contents: nil))
        func start() throws -> ChildProcess {
            let file = try FileHandle(forWritingTo: URL(filePath: log))
            try file.seekToEnd()
            return try ChildProcess(
                BuiltProducts.program("searchlightd"),
                ["--store", harness.store, "--extensions", harness.extensions, "--no-session-bus"],
                environment: command.environment, output: .inherited, errors: .file(file))
        }
        var service = try start()
        defer {
            service.send(SIGTERM)
            service.wait()
        }
        let steps = Self.number("SEARCHLIGHT_HISTORY_STEPS", 60)
        let kills = Self.number("SEARCHLIGHT_HISTORY_KILLS", 4)
        let killed = Set((0..<kills).map { _ in folder.random.below(steps) })
        let isLimited = hasDisk && seed % 3 == 0
        let usualLimit = try? String(contentsOfFile: Self.limit, encoding: .utf8)
        for step in 0..<steps {
            folder.step()
            if isLimited, folder.random.below(10) == 0 {
                try Self.setLimit(folder.random.below(2) == 0 ? "\(folder.random.below(8))" : usualLimit)
            }
            if hasDisk, folder.random.below(20) == 0 {
                service.send(SIGSTOP)
                folder.flood()
                for _ in 0..<folder.random.below(4) { folder.step() }
                service.send(SIGCONT)
            }
            if killed.contains(step) {
                let workers = TortureSupport.ProcessFacts.descendants(of: service.identifier)
                if folder.random.below(3) == 0, let worker = workers.first {
                    kill(worker, SIGKILL)
                } else {
                    service.send(SIGKILL)
                    service.wait()
                    // For a moment, no service follows the files.
                    for _ in 0..<folder.random.below(4) { folder.step() }
                    service = try start()
                }
            }
            // Work in progress may continue for a short time.
            if folder.random.below(4) == 0 {
                sched_yield()
            } else {
                try await ContinuousClock().sleep(for: .milliseconds(folder.random.below(60)))
            }
        }
        folder.disk?.mount()
        if isLimited {
            try Self.setLimit(usualLimit)
            // Without this command, unwatched changes are found some minutes later.
            let update = try command("update")
            #expect(update.status == 0, "\(update.output)")
        }
        let expected = try await Self.freshItems(harness, bundle)
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(600)
        var found: [String: ItemRecord]?
        repeat {
            try await clock.sleep(for: .milliseconds(100))
            found = try await Self.items(harness.store, harness, bundle)
        } while found != expected && clock.now < deadline
        let missing = Set(expected.keys).subtracting((found ?? [:]).keys)
        let ghosts = Set((found ?? [:]).keys).subtracting(expected.keys)
        let stale = expected.keys.filter { found?[$0] != nil && found?[$0] != expected[$0] }
        let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        #expect(
            found == expected,
            "seed \(seed): missing \(missing.sorted()), ghosts \(ghosts.sorted()), stale \(stale.sorted()), of \(expected.count)\n\(said.suffix(3000))"
        )
    }

    /// Returns the items of a full reindex in a separate store.
    private static func freshItems(_ harness: Harness, _ bundle: String) async throws -> [String: ItemRecord] {
        let store = harness.folder + "/fresh"
        let engine = try SearchlightEngine(
            EngineConfiguration(
                storeDirectory: store, access: .readWrite, extensionSearchPath: [harness.extensions],
                worker: try harness.workerConfiguration()))
        _ = try await engine.reindexAll(bundle)
        await engine.close()
        return try #require(try await items(store, harness, bundle))
    }
}
