// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExtensionHost
import Foundation
import SearchlightEngine
import TestSupport
import Testing

@testable import Diagnosis

/// Facts read from folders that simulate machines.
@Suite("Facts that the doctor reads", .timeLimit(.minutes(10)))
struct FactTests {
    private static func write(_ folder: TemporaryFolder, _ path: String, _ text: String) throws {
        let parent = URL(filePath: folder.path(path)).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try folder.write(Array(text.utf8), to: path)
    }

    private static func roots(_ folder: TemporaryFolder) -> DiagnosisRoots {
        var roots = DiagnosisRoots(
            environment: ["HOME": folder.path("home"), "PATH": folder.path("bin")], store: folder.path("store"),
            extensionSearchPath: [folder.path("extensions")])
        (roots.proc, roots.sys, roots.system) = (folder.path("proc"), folder.path("sys"), folder.path)
        // A busy machine is not a fault.
        roots.patience = 60
        return roots
    }

    @Test("A session bus at another address has failed for that reason", arguments: 0..<20)
    func absentBus(_: Int) async throws {
        let folder = try TemporaryFolder()
        var roots = Self.roots(folder)
        roots.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(folder.path("absent"))"
        let facts = try #require(await ActivationFacts.read(roots))
        guard case .failed(let reason) = facts.bus else {
            Issue.record("\(facts.bus)")
            return
        }
        #expect(reason.contains("No such file or directory"), "\(reason)")
    }

    @Test("Without a variable and a socket there is no session bus, which is not a fault")
    func noBus() async throws {
        let folder = try TemporaryFolder()
        var roots = Self.roots(folder)
        try Self.write(folder, "run/other", "")
        roots.environment["XDG_RUNTIME_DIR"] = folder.path("run")
        let facts = try #require(await ActivationFacts.read(roots))
        #expect(facts.bus == .absent)
    }

    @Test("The mount of a path is the innermost and last one, and escapes are decoded")
    func mounts() throws {
        let table = """
            21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            30 21 0:40 / /home rw - autofs systemd-1 rw
            31 21 0:41 / /home rw,nosuid - nfs4 server:/home rw,vers=4.2
            32 31 8:2 / /home/ada\\040lovelace ro master:2 - ext4 /dev/sda2 rw
            nonsense
            33 21 8:3
            """
        #expect(Mount.of("/home/bob/store", in: table)?.kind == "nfs4")
        #expect(Mount.of("/homes", in: table)?.point == "/")
        let inner = try #require(Mount.of("/home/ada lovelace/x", in: table))
        #expect(inner.device == "8:2" && inner.isReadOnly)
        #expect(Mount.of("/", in: "") == nil)
    }

    @Test("The I/O scheduler of a disk is found below partitions and encrypted volumes")
    func diskScheduler() throws {
        let folder = try TemporaryFolder()
        var roots = Self.roots(folder)
        roots.store = folder.path("none/yet")
        try Self.write(folder, "proc/self/mountinfo", "21 1 254:0 / / rw shared:1 - ext4 /dev/mapper/x rw\n")
        try Self.write(folder, "sys/dev/block/254:0/queue/scheduler", "none\n")
        try Self.write(folder, "sys/devices/sda/queue/scheduler", "[mq-deadline] kyber none\n")
        try Self.write(folder, "sys/devices/sda/sda2/partition", "2\n")
        #expect(StoreFacts(roots).diskScheduler == "none")
        try FileManager.default.createDirectory(
            atPath: folder.path("sys/dev/block/254:0/slaves"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("sys/dev/block/254:0/slaves/sda2"),
            withDestinationPath: folder.path("sys/devices/sda/sda2"))
        let facts = StoreFacts(roots)
        #expect(facts.diskScheduler == "mq-deadline")
        #expect(facts.mount?.source == "/dev/mapper/x" && facts.free ?? 0 > 0)
        #expect(!facts.folder.exists && facts.folder.nearest == folder.path)
    }

    @Test("The listener at a store's socket is read from tables, without a connection")
    func listeners() async throws {
        let folder = try TemporaryFolder()
        let roots = Self.roots(folder)
        try FileManager.default.createDirectory(atPath: roots.store, withIntermediateDirectories: true)
        #expect(await ServiceStateFacts.read(roots)?.listener == .noSocket)
        try folder.write([], to: "store/socket")
        #expect(await ServiceStateFacts.read(roots)?.listener == .nobody)
        let line = "0000000000000000: 00000002 00000000 00010000 0001 01 4711 \(roots.store)/socket\n"
        try Self.write(folder, "proc/net/unix", "Num       RefCount Protocol Flags    Type St Inode Path\n" + line)
        #expect(await ServiceStateFacts.read(roots)?.listener == .other)
        // A connected socket that does not listen is ignored.
        try Self.write(folder, "proc/net/unix", line.replacingOccurrences(of: "00010000", with: "00000000"))
        #expect(await ServiceStateFacts.read(roots)?.listener == .nobody)
    }

    @Test("A service is identified by its name and socket; a service that does not answer is a failure")
    func service() async throws {
        let folder = try TemporaryFolder()
        let roots = Self.roots(folder)
        try Self.write(folder, "store/lock", "12\n")
        try Self.write(
            folder, "proc/net/unix", "0: 00000002 00000000 00010000 0001 01 4711 \(roots.store)/socket\n")
        try Self.write(folder, "proc/12/comm", "searchlightd\n")
        try Self.write(
            folder, "proc/12/limits", "Max open files            512                  4096                 files\n")
        try FileManager.default.createDirectory(atPath: folder.path("proc/12/fd"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("proc/12/fd/5"), withDestinationPath: "socket:[4711]")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("proc/12/exe"), withDestinationPath: "/usr/bin/searchlightd (deleted)")
        // No process listens there, so a client gets the error that the service has exited.
        let facts = try #require(await ServiceStateFacts.read(roots))
        #expect(facts.listener == .nobody && facts.isReplaced, "\(facts)")
        #expect(facts.descriptorLimit == 512)
    }

    @Test("Units are found in systemd's order of folders, with their programs")
    func units() async throws {
        let folder = try TemporaryFolder()
        let roots = Self.roots(folder)
        let units = "home/.config/systemd/user"
        try Self.write(folder, "\(units)/searchlightd.service", "[Service]\nExecStart=/nowhere/searchlightd --x\n")
        try Self.write(folder, "usr/lib/systemd/user/searchlightd.service", "[Service]\nExecStart=/bin/sh\n")
        try Self.write(
            folder, "\(units)/searchlightd.socket", "[Socket]\nListenStream=%h/.local/share/searchlight/store/socket\n")
        let facts = try #require(await ActivationFacts.read(roots))
        #expect(
            facts.service
                == .init(
                    path: folder.path("\(units)/searchlightd.service"), program: "/nowhere/searchlightd",
                    isProgramThere: false))
        #expect(facts.listens == folder.path("home/.local/share/searchlight/store/socket"))
        #expect(!facts.isSocketEnabled && !facts.hasSystemd && facts.bus == .absent && facts.runtimeFolder == nil)
        try Self.write(folder, "\(units)/sockets.target.wants/searchlightd.socket", "")
        try Self.write(folder, "\(units)/default.target.wants/searchlightd.service", "")
        try Self.write(folder, "\(units)/searchlightd.socket.d/other.conf", "[Socket]\n")
        let changed = try #require(await ActivationFacts.read(roots))
        #expect(changed.isSocketEnabled && changed.listens == nil)
    }

    @Test("The needed libraries and the compiler of a library are read from its file")
    func library() throws {
        let program = try #require(SharedLibraryFile(at: "/proc/self/exe"))
        #expect(program.needed.contains { $0.hasPrefix("libc.so") })
        #expect(program.needed.contains("libswiftCore.so"))
        #expect(program.compiler?.contains("swiftlang") == true)
        #expect(SharedLibraryFile(at: "/etc/passwd") == nil)
    }

    @Test("A library with a false header is not accepted and does no harm", arguments: 0..<64)
    func hostileLibrary(seed: Int) throws {
        let folder = try TemporaryFolder()
        let path = try #require(ProbedFile.resolved("/proc/self/exe"))
        let file = try #require(FileHandle(forReadingAtPath: path))
        var bytes = Array(try file.read(upToCount: 4096) ?? Data())
        // Together the 64 tests damage every field of the header and of the segment table.
        for place in stride(from: 16 + seed % 16, to: 512, by: 16) { bytes[place] = seed % 2 == 0 ? 0xFF : 0x7F }
        try folder.write(bytes, to: "lib.so")
        _ = SharedLibraryFile(at: folder.path("lib.so"))
        try folder.write(Array(bytes.prefix(seed)), to: "short.so")
        #expect(SharedLibraryFile(at: folder.path("short.so")) == nil)
    }

    @Test("Libraries are searched in the linker's configured folders")
    func libraryFolders() throws {
        let folder = try TemporaryFolder()
        try Self.write(folder, "etc/ld.so.conf", "# a comment\ninclude /etc/ld.so.conf.d/*.conf\n")
        try Self.write(folder, "etc/ld.so.conf.d/x.conf", "/opt/x # here\nrelative\n")
        try Self.write(folder, "etc/ld.so.conf.d/loop.conf", "include /etc/ld.so.conf\n")
        try Self.write(folder, "opt/x/libx.so.1", "")
        try Self.write(folder, "own/liby.so", "")
        let folders = LibraryFolders(root: folder.path)
        #expect(folders.has("libx.so.1") && !folders.has("liby.so"))
        #expect(folders.has("liby.so", besides: [folder.path("own")]))
    }

    @Test("The wait for an answer ends at the limit")
    func patience() async {
        let gate = DispatchSemaphore(value: 0)
        let silent = await Patience.look(0.01) { () -> Int in
            gate.wait()
            return 1
        }
        gate.signal()
        #expect(silent == nil)
        #expect(await Patience.look(60) { 2 } == 2)
        let (stream, end) = AsyncStream<Void>.makeStream()
        let cancelled = await Patience.ask(
            0.01,
            { () async -> Int in
                for await _ in stream {}
                return 3
            })
        end.finish()
        #expect(cancelled == nil)
        #expect(
            await Patience.ask(
                60,
                { 4 }) == 4)
    }

    @Test("A missing folder is judged by its nearest existing parent")
    func folders() throws {
        let folder = try TemporaryFolder()
        let facts = FolderFacts(folder.path("a/b/c"))
        #expect(!facts.exists && facts.isFolder && facts.isWritable && facts.user == facts.owner)
        try folder.write([], to: "file")
        #expect(!FolderFacts(folder.path("file/x")).isFolder)
    }

    @Test("This machine is read completely")
    func whole() async throws {
        let folder = try TemporaryFolder()
        var roots = Self.roots(folder)
        (roots.proc, roots.sys, roots.system, roots.patience) = ("/proc", "/sys", "", 30)
        let facts = await MachineFacts(roots, installation: Installation(environment: [:]))
        #expect(facts.kernel?.release.isEmpty == false)
        #expect(facts.sensors?.sensors.count == 14)
        #expect(facts.store?.mount != nil && facts.store?.free != nil)
        #expect(facts.service?.listener == .noSocket)
        #expect(facts.extensions?.extensions.isEmpty == true)
        let diagnosis = Diagnosis(facts)
        #expect(!diagnosis.findings.contains { $0.name.hasSuffix(".silent") })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "It changes nothing.")
    }
}
