// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport
import TestSupport
import Testing

@testable import FileWatching

@Suite("Disks", .timeLimit(.minutes(2)))
struct DiskTests {
    @Test(
        "Mounts and unmounts, in a namespace of their own",
        .enabled(if: MountNamespace.isAllowed, "mounts, which this machine forbids"))
    func namespace() throws {
        let (ending, output) = try MountNamespace.run("DisksInNamespaceTests")
        #expect(ending == .exited(0), "\(output)")
        #expect(output.contains("DisksInNamespaceTests") || output.contains("passed after"), "\(output)")
    }
}

@Suite("Disks, in a namespace", .enabled(if: MountNamespace.isEntered), .timeLimit(.minutes(1)))
struct DisksInNamespaceTests {
    private func mount(_ arguments: String...) throws {
        #expect(try ChildProcess.run("/usr/bin/mount", arguments).ending == .exited(0))
    }

    private func unmount(_ path: String) throws {
        #expect(try ChildProcess.run("/usr/bin/umount", [path]).ending == .exited(0))
    }

    private func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    @Test("A root on an unmounted disk keeps its files, even with pending names")
    func root() async throws {
        let place = try Watched()
        let (disk, root) = (place.folder.path("disk"), place.folder.path("disk/notes"))
        for path in [disk, place.folder.path("storage"), place.folder.path("storage/notes")] { mkdir(path, 0o700) }
        try mount("--bind", place.folder.path("storage"), disk)
        for name in ["a", "b"] { try write("one", root + "/" + name) }
        place.watch([root])
        try await place.settle { $0.files.count == 2 && $0.status.isUpToDate }
        // The change to the file is pending when the disk is unmounted.
        try write("two", root + "/a")
        try unmount(disk)
        try await place.wait { $0.trees.values.contains(.unavailable([root])) && $0.isUpToDate }
        #expect(try place.snapshot.pending().isEmpty)
        let folder = try #require(try place.snapshot.presentFolders().first)
        let report = try place.snapshot.compare(["a", "b"], of: folder, observer: nil)
        #expect(report.needsWholeTree || !report.unavailable.isEmpty || report == TreeReport())
        mkdir(root, 0o700)
        #expect(try place.snapshot.compare(["a", "b"], of: folder, observer: nil).needsWholeTree)
        #expect(try place.snapshot.pending().isEmpty)
        try mount("--bind", place.folder.path("storage"), disk)
        try await place.settle { $0.files[root + "/a"] == "two" && $0.status.isUpToDate }
        #expect(place.files.count == 2)
    }

    @Test(
        "An unmounted disk within a tree keeps its files; another disk replaces them if it is not empty"
    )
    func withinTree() async throws {
        let place = try Watched()
        let disk = place.root + "/disk"
        try place.write("one", "a")
        mkdir(disk, 0o700)
        try mount("-t", "tmpfs", "first", disk)
        try place.write("one", "disk/b")
        try place.write("one", "disk/folder/c")
        place.watch([place.root])
        _ = try await place.settle()
        try unmount(disk)
        try await place.wait { $0.trees.values.contains(.unavailable([disk])) && $0.isUpToDate }
        #expect(try place.snapshot.pending().isEmpty)
        rmdir(disk)
        try place.write("two", "a")
        try await place.settle { $0.files[$0.root + "/a"] == "two" && $0.status.isUpToDate }
        #expect(place.files.count == 3)
        mkdir(disk, 0o700)
        try mount("-t", "tmpfs", "second", disk)
        try await place.wait { $0.trees.values.contains(.unavailable([disk])) && $0.isUpToDate }
        #expect(place.files.count == 3)
        try place.write("new", "disk/d")
        // A disk that is not confirmed yet has no reports.
        place.compareAgain()
        _ = try await place.settle()
        #expect(place.files.count == 2)
        try place.write("newer", "disk/d")
        _ = try await place.settle()
    }

    @Test("The bare mount point replaces the disk's files if it holds a known file")
    func copied() async throws {
        let place = try Watched()
        let disk = place.root + "/disk"
        try place.write("one", "a")
        mkdir(disk, 0o700)
        try mount("-t", "tmpfs", "first", disk)
        for name in ["b", "c"] { try place.write("one", "disk/" + name) }
        place.watch([place.root])
        _ = try await place.settle()
        let kept = place.folder.path("kept")
        #expect(try ChildProcess.run("/bin/cp", ["-a", disk + "/b", kept]).ending == .exited(0))
        try unmount(disk)
        try place.write("stray", "disk/stray")
        try await place.wait { $0.trees.values.contains(.unavailable([disk])) && $0.isUpToDate }
        #expect(try place.snapshot.pending().isEmpty)
        #expect(try ChildProcess.run("/bin/cp", ["-a", kept, disk + "/b"]).ending == .exited(0))
        place.compareAgain()
        _ = try await place.settle()
        #expect(place.files.count == 3)
    }

    @Test("An unmounted disk stays so when its list is widened, and is followed after mounting")
    func widened() async throws {
        let place = try Watched()
        let disk = place.folder.path("usb")
        for path in [disk, place.folder.path("storage")] { mkdir(path, 0o700) }
        try mount("-t", "tmpfs", "first", place.folder.path("storage"))
        mkdir(place.folder.path("storage/notes"), 0o700)
        try mount("--bind", place.folder.path("storage"), disk)
        for name in ["a", "b"] { try write("one", disk + "/notes/" + name) }
        place.watch([disk + "/notes"])
        try await place.settle { $0.files.count == 2 && $0.status.isUpToDate }
        try unmount(disk)
        try await place.wait { $0.trees.values.contains(.unavailable([disk + "/notes"])) && $0.isUpToDate }
        place.watch([disk])
        try await place.wait { $0.trees.values.contains(.unavailable([disk])) && $0.isUpToDate }
        #expect(try place.snapshot.pending().isEmpty)
        unlink(place.folder.path("storage/notes/b"))
        try mount("--bind", place.folder.path("storage"), disk)
        try await place.settle { $0.files.count == 1 && $0.status.isUpToDate }
        try write("two", disk + "/notes/a")
        try await place.settle { $0.files.values.contains("two") }
    }
}
