// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import ExtensionHost

@Suite("A path below /proc")
struct ProcessPathTests {
    /// Process 100 with the threads 101 and 102.
    private func path(_ text: String, thread: pid_t = 101) -> ProcessPath {
        ProcessPath(text, process: 100, thread: thread) { [101, 102].contains($0) }
    }

    @Test(
        "of the worker itself is opened under its number, with any name",
        arguments: [
            ("/proc/self/stat", "/proc/100/stat"), ("/proc/100/maps", "/proc/100/maps"),
            ("/proc//self/./status", "/proc/100/status"), ("//proc/self/limits", "/proc/100/limits"),
            ("/proc/101/stat", "/proc/100/task/101/stat"), ("/proc/thread-self/stat", "/proc/100/task/101/stat"),
            ("/proc/self/task/102/comm", "/proc/100/task/102/comm"), ("/proc/self/task", "/proc/100/task"),
            ("/proc/self/fd", "/proc/100/fd"), ("/proc/self", "/proc/100"), ("/proc/mounts", "/proc/100/mounts"),
            ("/proc/self/fdinfo/3", "/proc/100/fdinfo/3"), ("/.//./proc/self/status", "/proc/100/status"),
        ])
    func own(_ text: String, _ expected: String) { #expect(path(text) == .file(expected)) }

    @Test(
        "about the machine is opened",
        arguments: ["/proc/meminfo", "/proc/cpuinfo", "/proc/sys/vm/overcommit_memory", "/proc/stat"])
    func machine(_ text: String) { #expect(path(text) == .file(text)) }

    @Test(
        "of another process is refused, for any file",
        arguments: [
            "/proc", "/proc/", "//proc//", "/proc/1", "/proc/1/cmdline", "/proc/1/status", "/proc/99/fd",
            "/proc/99/task/99/fd",
            "/proc/self/task/1/stat", "/proc/103/stat", "/proc/100/task/99/environ", "/proc/0/stat", "/proc/-1/stat",
        ])
    func others(_ text: String) {
        guard case .others = path(text) else {
            Issue.record("\(text): \(path(text))")
            return
        }
    }

    @Test(
        "that is never needed, or that leads out of a folder, is closed",
        arguments: [
            "/proc/self/mem", "/proc/self/task/101/mem", "/proc/self/net/tcp", "/proc/net/unix", "/proc/self/ns/net",
            "/proc/self/../1/cmdline", "/proc/../etc/shadow", "/proc/kcore", "/proc/kallsyms", "/proc/sysrq-trigger",
            "/proc/self/map_files/1-2", "/proc/sys/../1/cmdline", "/proc/self/pagemap", "/proc/mounts/x", "/proc/keys",
        ])
    func closed(_ text: String) { #expect(path(text) == .closed) }

    @Test(
        "that starts elsewhere is not below /proc",
        arguments: [
            "/", "/process", "/device", "/usr/proc/1", "/tmp/../proc/1/stat", "/.", "/./", "/./tmp/proc", "/.proc/1",
            "proc/1/stat", "./proc/1/stat", "",
        ])
    func elsewhere(_ text: String) { #expect(path(text) == .elsewhere) }

    @Test("of the state of a number that nobody has is of an ended thread, and no other path is")
    func endedThreads() {
        func isEnded(_ path: String) -> Bool { ProcessPath.isOfEndedThread(path) { $0 == 200 } }
        #expect(isEnded("/proc/103/stat"))
        for path in [
            "/proc/200/stat", "/proc/103/status", "/proc/103/environ", "/proc/103", "/proc/0/stat", "/proc/-1/stat",
            "/proc/x/stat", "/proc/103/../1/stat", "/proc/103/task/103/stat", "proc/103/stat", "/tmp/103/stat",
        ] { #expect(!isEnded(path), "\(path)") }
        #expect(!ProcessPath.isOfEndedThread("/proc/\(getpid())/stat"))
    }

    @Test("that is itself a link has the meaning of the target")
    func links() {
        #expect(ProcessPath("/./dev//fd/9999", process: getpid()) == .closed)
        let own = ProcessPath("/proc/self/root/etc/shadow", process: getpid())
        #expect(own == .means("/etc/shadow"))
        guard case .means(let folder) = ProcessPath("/proc/self/cwd/x", process: getpid()) else {
            Issue.record("no folder")
            return
        }
        #expect(folder.hasSuffix("/x"))
    }
}
