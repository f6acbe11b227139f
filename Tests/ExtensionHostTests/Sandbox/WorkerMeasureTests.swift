// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("A worker's use of uncounted resources")
struct WorkerMeasureTests {
    private static let block = [UInt8](repeating: 7, count: 1 << 20)

    /// Measures this process as a worker with one path.
    private func look(at place: String, connection: UInt64 = 0) throws -> (csandbox_descriptors, [csandbox_hidden]) {
        var found = csandbox_descriptors()
        var hidden = [csandbox_hidden](repeating: csandbox_hidden(), count: Int(CSANDBOX_MAXIMUM_HIDDEN))
        try #require(
            csandbox_measure_descriptors(getpid(), Array(place.utf8CString) + [0], connection, &found, &hidden) == 0)
        return (found, Array(hidden.prefix(Int(found.hidden_count))))
    }

    @Test("includes the bytes and files of a folder, without holes and without following links")
    func folder() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/t"
        mkdir(path, 0o700)
        mkdir(path + "/a", 0o700)
        symlink("/usr", path + "/link")
        let file = try #require(fopen(path + "/a/full", "w"))
        fwrite(Self.block, 1, Self.block.count, file)
        fclose(file)
        let hole = open(path + "/hole", O_RDWR | O_CREAT, 0o600)
        ftruncate(hole, 1 << 30)
        close(hole)
        var size = csandbox_size()
        #expect(csandbox_measure_folder(path, 100, &size) == 0)
        #expect(size.files == 4)
        #expect(size.bytes >= 1 << 20 && size.bytes < 2 << 20)
        size = csandbox_size()
        #expect(csandbox_measure_folder(path, 3, &size) == ENOSPC)
        var deep = path
        for _ in 0..<70 {
            deep += "/d"
            mkdir(deep, 0o700)
        }
        size = csandbox_size()
        #expect(csandbox_measure_folder(path, 1000, &size) == E2BIG)
        size = csandbox_size()
        #expect(csandbox_measure_folder(path + "/none", 1000, &size) == 0 && size.files == 0)
    }

    @Test("includes unnamed files that are still open or mapped")
    func descriptors() throws {
        let folder = try TemporaryFolder()
        let real = try #require(SmallFile.resolved(folder.path))
        let number = open(real + "/gone", O_RDWR | O_CREAT, 0o600)
        try #require(number >= 0)
        try #require(write(number, Self.block, Self.block.count) == Self.block.count)
        #expect(try look(at: real).0.removed_bytes == 0)
        unlink(real + "/gone")
        var (found, hidden) = try look(at: real)
        #expect(found.removed_bytes >= 1 << 20 && found.removed_files == 1 && hidden.isEmpty)
        let mapped = mmap(nil, 8192, PROT_READ, MAP_SHARED, number, 0)
        (found, hidden) = try look(at: real)
        #expect(found.removed_files == 1 && hidden.isEmpty, "once, with its descriptor")
        close(number)
        (found, hidden) = try look(at: real)
        #expect(found.removed_bytes == 0 && hidden.map(\.bytes) == [8192])
        // At an address other than the first, the mapped size has no meaning.
        var elsewhere = csandbox_descriptors()
        var files = [csandbox_hidden](repeating: csandbox_hidden(), count: Int(CSANDBOX_MAXIMUM_HIDDEN))
        let places = Array("/dev/null".utf8CString) + Array(real.utf8CString) + [0]
        #expect(csandbox_measure_descriptors(getpid(), places, 0, &elsewhere, &files) == 0)
        #expect(elsewhere.hidden_count == 1 && files[0].bytes == 0)
        munmap(mapped, 8192)
        #expect(try look(at: real).1.isEmpty)
    }

    @Test("takes a few milliseconds to measure, for an ordinary process")
    func time() throws {
        let folder = try TemporaryFolder()
        let clock = ContinuousClock()
        var fastest = Duration.seconds(1)
        for _ in 0..<20 {
            fastest = min(
                fastest,
                try clock.measure {
                    var (activity, bytes, size) = (csandbox_activity(), UInt64(0), csandbox_size())
                    _ = try look(at: folder.path)
                    #expect(csandbox_measure_activity(getpid(), &activity) == 0)
                    #expect(csandbox_measure_private(getpid(), .max, &bytes) == 0)
                    #expect(csandbox_measure_folder(folder.path, 100, &size) == 0)
                })
        }
        print("One look: \(fastest)")
        #expect(fastest < .milliseconds(5))
    }

    @Test("includes its written bytes, and memory that is no longer writable")
    func activity() throws {
        var (before, after) = (csandbox_activity(), csandbox_activity())
        #expect(csandbox_measure_activity(getpid(), &before) == 0)
        #expect(before.is_headless == 0)
        let folder = try TemporaryFolder()
        let number = open(folder.path("written"), O_RDWR | O_CREAT, 0o600)
        try #require(write(number, Self.block, Self.block.count) == Self.block.count)
        close(number)
        let size = 64 << 20
        let memory = try #require(mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        memset(memory, 1, size)
        mprotect(memory, size, PROT_READ)
        #expect(csandbox_measure_activity(getpid(), &after) == 0)
        #expect(after.written >= before.written + 1 << 20)
        #expect(after.faulted > before.faulted)
        var (bytes, exact) = (UInt64(0), UInt64(0))
        #expect(csandbox_measure_private(getpid(), .max, &bytes) == 0)
        #expect(csandbox_measure_private(getpid(), 0, &exact) == 0)
        #expect(bytes >= UInt64(size) && exact >= UInt64(size))
        munmap(memory, size)
    }
}

@Suite("Invisible bytes")
struct HiddenBytesTests {
    private let mebibyte: UInt64 = 1 << 20
    private func file(_ inode: UInt64, _ bytes: UInt64 = 4096) -> csandbox_hidden {
        csandbox_hidden(inode: inode, bytes: bytes)
    }
    private var none: [csandbox_hidden] { [] }

    @Test("of a mapped file are the removed bytes plus later writes, until the file is unmapped")
    func mapped() {
        var hidden = HiddenBytes()
        hidden.note(visible: 100 * mebibyte, written: 200 * mebibyte, grown: 0, isInFlight: false, files: none)
        #expect(hidden.bytes == 0)
        // Of 100 MiB of visible memory, 70 MiB are no longer visible, and 5 MiB were written.
        hidden.note(visible: 30 * mebibyte, written: 205 * mebibyte, grown: 0, isInFlight: false, files: [file(1)])
        #expect(hidden.bytes == 75 * mebibyte)
        hidden.note(visible: 0, written: 900 * mebibyte, grown: 0, isInFlight: false, files: [file(1)])
        #expect(hidden.bytes == 75 * mebibyte, "nothing else was hidden since")
        hidden.note(visible: 0, written: 910 * mebibyte, grown: 0, isInFlight: false, files: [file(1), file(2)])
        #expect(hidden.bytes == 85 * mebibyte)
        hidden.note(visible: 0, written: 910 * mebibyte, grown: 0, isInFlight: false, files: [file(2)])
        #expect(hidden.bytes == 10 * mebibyte)
        hidden.note(visible: 0, written: 910 * mebibyte, grown: 0, isInFlight: false, files: none)
        #expect(hidden.bytes == 0)
    }

    @Test("are at least the mapped bytes")
    func length() {
        var hidden = HiddenBytes()
        hidden.note(
            visible: 0, written: 0, grown: 0, isInFlight: false, files: [file(1, 8 * mebibyte), file(2, mebibyte)])
        #expect(hidden.bytes == 9 * mebibyte)
        hidden.note(
            visible: 0, written: 0, grown: 0, isInFlight: false, files: [file(1, 20 * mebibyte), file(2, mebibyte)])
        #expect(hidden.bytes == 21 * mebibyte)
    }

    @Test("grow with the map of such a file, by at most the written bytes")
    func growth() {
        var hidden = HiddenBytes()
        hidden.note(visible: 0, written: 0, grown: 50 * mebibyte, isInFlight: false, files: none)
        #expect(hidden.bytes == 0)
        hidden.note(visible: 0, written: 0, grown: 0, isInFlight: false, files: [file(1)])
        for written in [100, 110] as [UInt64] {
            hidden.note(
                visible: 0, written: written * mebibyte, grown: 70 * mebibyte, isInFlight: false, files: [file(1)])
        }
        #expect(hidden.bytes == 80 * mebibyte + 4096)
    }

    @Test("add up while descriptors are in flight, and move to the next mapping")
    func inFlight() {
        var hidden = HiddenBytes()
        hidden.note(visible: 50 * mebibyte, written: 50 * mebibyte, grown: 0, isInFlight: false, files: none)
        hidden.note(visible: 0, written: 60 * mebibyte, grown: 0, isInFlight: true, files: none)
        hidden.note(visible: 0, written: 90 * mebibyte, grown: 0, isInFlight: true, files: none)
        #expect(hidden.bytes == 90 * mebibyte)
        var received = hidden
        received.note(visible: 90 * mebibyte, written: 90 * mebibyte, grown: 0, isInFlight: false, files: none)
        #expect(received.bytes == 0)
        hidden.note(visible: 0, written: 90 * mebibyte, grown: 0, isInFlight: false, files: [file(7)])
        #expect(hidden.bytes == 90 * mebibyte)
    }
}
