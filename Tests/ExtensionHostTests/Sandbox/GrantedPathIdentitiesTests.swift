// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("Identities of granted paths")
struct GrantedPathIdentitiesTests {
    private let folder: TemporaryFolder
    private var home: String { folder.path + "/home" }

    init() throws {
        folder = try TemporaryFolder()
        for name in ["Documents/Notes", "config/com.example.x", "files"] {
            try FileManager.default.createDirectory(atPath: home + "/" + name, withIntermediateDirectories: true)
        }
    }

    private func places(_ table: [String: Any]) throws -> GrantedPathIdentities {
        let path = try PlainBundle("com.example.x", in: folder.path("extensions"), manifest: ["Searchlight": table])
            .path
        let configuration = WorkerConfiguration(
            workerPath: "/opt/searchlight/worker", frameworkFolder: nil,
            environment: ["HOME": home, "XDG_CONFIG_HOME": home + "/config"])
        return SandboxPolicy(try ExtensionBundle(at: path), configuration, temporaryFolder: nil).places
    }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: home + "/" + name))
    }

    /// Replaces a file as programs do that save by renaming.
    private func replace(_ name: String) throws {
        try write("new", name + ".part")
        try #require(rename(home + "/" + name + ".part", home + "/" + name) == 0)
    }

    @Test("A modified declared file is the same; a replaced, removed or recreated file is not")
    func files() throws {
        try write("one", "files/a")
        let declared = ["ReadablePaths": ["~/files/a"], "WritablePaths": ["~/Documents/b"]]
        var places = try places(declared)
        #expect(places.areUnchanged())
        let handle = try #require(FileHandle(forWritingAtPath: home + "/files/a"))
        try handle.write(contentsOf: Data("longer than it was".utf8))
        try handle.close()
        #expect(places.areUnchanged())
        try replace("files/a")
        #expect(!places.areUnchanged())
        places = try self.places(declared)
        // Some file systems reuse the inode number for the next file.
        unlink(home + "/files/a")
        #expect(!places.areUnchanged())
        try write("three", "files/a")
        #expect(!places.areUnchanged())
        places = try self.places(declared)
        try write("made later", "Documents/b")
        #expect(!places.areUnchanged())
    }

    @Test("The same holds for folders, declared and own; changes inside of them do not matter")
    func folders() throws {
        try write("one", "Documents/Notes/a")
        // The file is granted with the folder, and separately for writing.
        let declared = [
            "ReadablePaths": ["~/Documents/Notes", "~/Documents/Notes/a", "~/Later"],
            "WritablePaths": ["~/Documents/Notes/b"],
        ]
        var places = try places(declared)
        try replace("Documents/Notes/a")
        try write("new", "config/com.example.x/settings")
        #expect(places.areUnchanged())
        try write("new", "Documents/Notes/b")
        #expect(!places.areUnchanged())
        places = try self.places(declared)
        mkdir(home + "/Later", 0o700)
        #expect(!places.areUnchanged())
        places = try self.places(declared)
        rename(home + "/Documents/Notes", home + "/Documents/Old")
        mkdir(home + "/Documents/Notes", 0o700)
        #expect(!places.areUnchanged())
        places = try self.places(declared)
        rename(home + "/config/com.example.x", home + "/config/old")
        #expect(!places.areUnchanged())
    }

    @Test("Files with lists of paths count with their content, and listed paths like declared ones")
    func lists() throws {
        try write("~/files/a\n", "config/com.example.x/folders")
        let declared = ["ReadablePathsFrom": ["$XDG_CONFIG_HOME/com.example.x/folders"]]
        var places = try places(declared)
        #expect(places.areUnchanged())
        try write("later", "files/a")
        #expect(!places.areUnchanged())
        places = try self.places(declared)
        let handle = try #require(FileHandle(forWritingAtPath: home + "/config/com.example.x/folders"))
        try handle.write(contentsOf: Data("~/files/a\n~/files/b\n".utf8))
        try handle.close()
        #expect(!places.areUnchanged())
        let settings = home + "/config/user-dirs.dirs"
        #expect(!places.paths.contains(settings))
        #expect(try self.places(["ReadablePaths": ["$XDG_DOCUMENTS_DIR/a"]]).paths.contains(settings))
    }

    @Test("Only a limited number of listed paths is checked, and no caller waits twice for them")
    func bounded() async throws {
        let names = (0..<250).map { "~/files/\($0)\n" }.joined()
        for list in ["one", "two"] { try write(names.replacing("files", with: list), "config/com.example.x/" + list) }
        let lists = ["one", "two"].map { "$XDG_CONFIG_HOME/com.example.x/" + $0 }
        let places = try places(["ReadablePathsFrom": lists])
        #expect(places.paths.count == GrantedPathIdentities.maximum)
        let check = PathRevalidation(places, clock: ManualClock())
        #expect(await check.areUnchanged())
        try FileManager.default.createDirectory(atPath: home + "/one", withIntermediateDirectories: true)
        try write("later", "one/7")
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { await check.areUnchanged() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: false, count: 20))
    }

    @Test("Local paths are checked at once, and all by a thread after a mount")
    func mounted() async throws {
        #expect(csandbox_is_local("/proc/self") == 1 && csandbox_is_local("/proc/self/nothing/is/here") == 1)
        #expect(csandbox_is_local("/" + String(repeating: "x", count: 5000)) == 0)
        try write("one", "files/a")
        for later in [1, 2, nil] as [Int?] {
            let places = try places(["ReadablePaths": ["~/files/a"]])
            #expect(places.only(local: true).paths.count + places.only(local: false).paths.count == places.paths.count)
            let version = Mutex<Int?>(1)
            let check = PathRevalidation(places, clock: ManualClock()) { version.withLock { $0 } }
            version.withLock { $0 = later }
            #expect(await check.areUnchanged())
            // Another file appears at the path.
            try FileManager.default.moveItem(atPath: home + "/files/a", toPath: home + "/files/old-\(later ?? 0)")
            try write("one", "files/a")
            #expect(await !check.areUnchanged(), "\(String(describing: later))")
        }
        let version = try #require(MountTable.own.version)
        #expect(try #require(MountTable.own.version) >= version)
    }

    /// A file system whose server answers only when the test allows it.
    private final class Server: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let count = Mutex(0)

        var looks: Int { count.withLock { $0 } }

        func look() -> Bool {
            count.withLock { $0 += 1 }
            gate.wait()
            return false
        }

        func answer() { gate.signal() }
    }

    @Test("A file system that does not respond delays the first caller briefly, and later callers not at all")
    func stuck() async {
        let (server, clock) = (Server(), ManualClock())
        let check = PathRevalidation(clock: clock) { server.look() }
        async let first = check.areUnchanged()
        async let second = check.areUnchanged()
        await clock.waitForSleepers()
        clock.advance(by: PathRevalidation.patience)
        let early = await [first, second]
        let late = await check.areUnchanged()
        #expect(early == [true, true] && late)
        server.answer()
        #expect(server.looks <= 1)
    }

    @Test("A cancelled caller does not wait for a file system")
    func cancelled() async {
        let (server, clock) = (Server(), ManualClock())
        let check = PathRevalidation(clock: clock) { server.look() }
        let asking = Task { await check.areUnchanged() }
        await clock.waitForSleepers()
        asking.cancel()
        #expect(await asking.value)
        // Other callers still get an answer, from this check or from the next one.
        async let other = check.areUnchanged()
        for _ in 0..<2 { server.answer() }
        let isUnchanged = await other
        #expect(!isUnchanged)
    }
}
