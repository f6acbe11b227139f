// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import Synchronization
import SystemSupport
import Testing

/// An extension that tries all known ways to access data of others.
@Suite("Escapes from the sandbox", .timeLimit(.minutes(10)))
struct SandboxEscapeTests {
    /// Permitted actions. All other attempts must fail.
    private static let harmless: Set<String> = [
        "make a link of its own", "write in its own folder", "change the mode of its own file", "read its bundle",
        "make a pair of stream sockets", "start a thread", "end", "list the attributes of its own file",
        "list its own descriptors", "read its own maps",
    ]

    /// The report of each attempt. `{outside}` is the folder of the other app, `{host}` this
    /// process.
    private static let told: [String: String] = [
        "read another app's file": "tried to read {outside}/secret",
        "read it through another thread's root": "tried to read /etc/shadow",
        "list its folder": "tried to read {outside}",
        "list the home folder": "tried to read {home}",
        "write outside": "tried to change {outside}/new",
        "make a folder outside": "tried to change {outside}/folder",
        "delete outside": "tried to change {outside}/secret",
        "move outside": "tried to change {outside}/moved",
        "change the mode outside": "tried to change permissions, dates or attributes of {outside}/secret",
        "change the mode of a file it reads":
            "tried to change permissions, dates or attributes of {bundle}/Info.plist",
        "change its bundle": "tried to change {bundle}/Info.plist",
        "watch a folder": "tried to call inotify_init1",
        "connect by TCP": "tried to use the network (a socket of family inet)",
        "send by UDP": "tried to use the network (a socket of family inet6, UDP)",
        "connect to a socket by its path": "tried to use the network (a socket of family unix)",
        "make a raw socket": "tried to use the network (a socket of family packet)",
        "connect to an abstract socket": "tried to use the network (connect unix @searchlight-test)",
        "fork": "tried to start a process (clone)",
        "start threads without end": "tried to start a process (one more thread than 512)",
        "make a file to run as its owner":
            "tried to change permissions, dates or attributes of a new file, to run as its owner or group",
        "run a program": "tried to run the program /bin/true",
        "run an open program": "tried to run the program in an open file",
        "make a program in memory": "tried to call memfd_create",
        "trace the host": "tried to reach its host, process {host} (ptrace)",
        "end the host": "tried to send a signal to its host (process {host})",
        "stop everybody": "tried to send a signal to all processes",
        "slow down the host": "tried to reach its host, process {host} (setpriority)",
        "read the host's memory": "tried to reach its host, process {host} (process_vm_readv)",
        "slow down a group": "tried to reach a group of processes (setpriority)",
        "slow down a user": "tried to reach all processes of a user (setpriority)",
        "look at the priority of a user": "tried to reach all processes of a user (getpriority)",
        "limit the host": "tried to reach its host, process {host} (prlimit64)",
        "look at the host's processor time": "tried to reach its host, process {host} (clock_gettime)",
        "read the host's command line": "tried to reach process {host} (/proc/{host}/cmdline)",
        "read the host's status": "tried to reach process {host} (/proc/{host}/status)",
        "list the host's descriptors": "tried to reach process {host} (/proc/{host}/fd)",
        "list the processes": "tried to reach the list of processes (/proc)",
        "read who uses the network": "tried to read /proc/self/net/tcp",
        "write to its own memory as a file": "tried to change /proc/self/mem",
        "make a pipe with a name": "/pipe (a special file)",
        "leave a whiteout behind": "/own (a special file)",
        "put code into memory through a file": "tried to call mmap for code in a file that it can write",
        "have memory that is shared": "tried to get memory (shared memory without a file)",
        "have a stack that grows": "tried to get memory (a stack that grows by itself)",
        "have more memory than it may": "tried to get memory (more than its limit of 512 MiB)",
        "have zeros that are memory": "tried to change /dev/zero",
        "have many descriptors": "tried to exceed a limit (256 open files)",
        "have many timers": "tried to exceed a limit (128 timers and queued signals of the user)",
        "start a process by clone3": "tried to start a process (clone3)",
        "open the host's memory": "tried to reach process {host} (/proc/{host}/mem)",
        "open the host's variables": "tried to reach process {host} (/proc/{host}/environ)",
        "open the host's descriptors": "tried to reach process {host} (/proc/{host}/fd/0)",
        "io_uring": "tried to call io_uring_setup", "bpf": "tried to call bpf", "keyctl": "tried to call keyctl",
        "perf": "tried to call perf_event_open", "userfaultfd": "tried to call userfaultfd",
        "unshare": "tried to call unshare", "mount": "tried to call mount",
        "put code into memory": "tried to call mmap for code in memory that was written",
        "make code of memory": "tried to call mprotect for code in memory that was written",
        "put words into a terminal": "tried to call ioctl number 21522 on descriptor 0",
        "have the host signalled": "tried to call fcntl number 8 on descriptor 3",
        "outlive the host": "tried to call prctl number 1",
        "a call that nobody knows": "tried to call the kernel's function 1023",
    ]

    /// Another app's files and listening sockets.
    private final class Surroundings {
        let outside: String
        let listeners: [OwnedDescriptor]

        init(_ harness: Harness, bundle: String) throws {
            outside = harness.folder + "/config/org.example.other"
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
            try Data("the secret\n".utf8).write(to: URL(filePath: outside + "/secret"))
            // The path of a socket must be short.
            let name = FileManager.default.temporaryDirectory.path + "/sl-\(UUID().uuidString.prefix(8))"
            let local = try StreamSocket.listen(at: name)
            let (internet, port) = try Self.listen()
            listeners = [local, internet]
            let target = harness.marks + "/\(bundle).searchext.target"
            try Data("\(harness.folder) \(outside)/secret \(outside) \(name) \(port)\n".utf8)
                .write(to: URL(filePath: target))
            unlinkLater = name
        }
        private let unlinkLater: String
        deinit { unlink(unlinkLater) }

        private static func listen() throws -> (OwnedDescriptor, UInt16) {
            let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(number >= 0)
            let descriptor = OwnedDescriptor(adopting: number)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(number, $0, length) == 0 && Glibc.listen(number, 1) == 0
                        ? getsockname(number, $0, &length) : -1
                }
            }
            try #require(result == 0)
            return (descriptor, UInt16(bigEndian: address.sin_port))
        }
    }

    private func results(_ messages: [String]) -> [String: Int32] {
        Dictionary(
            messages.compactMap { line -> (String, Int32)? in
                guard line.hasPrefix("ATTEMPT "), let colon = line.lastIndex(of: ":") else { return nil }
                let name = line[line.index(line.startIndex, offsetBy: 8)..<colon]
                return Int32(line[line.index(colon, offsetBy: 2)...]).map { (String(name), $0) }
            }, uniquingKeysWith: { $1 })
    }

    private func expectRefusals(_ results: [String: Int32]) {
        #expect(results["end"] == 0, "\(results)")
        #expect(results.count >= 60)
        for (attempt, code) in results {
            if Self.harmless.contains(attempt) {
                #expect(code == 0, "\(attempt): \(String(cString: strerror(code)))")
            } else {
                #expect(code != 0, "\(attempt) worked")
            }
        }
    }

    @Test("every attempt is denied by the kernel, and reported")
    func everything() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("escapes")
        let surroundings = try Surroundings(harness, bundle: bundle)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
        }
        expectRefusals(results(harness.messages))
        #expect(try String(contentsOfFile: surroundings.outside + "/secret", encoding: .utf8) == "the secret\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: surroundings.outside) == ["secret"])

        // Another process sees the report in the store.
        let status = try await harness.statusOfAnother()
        let known = try #require(status.sandbox.history.bundles[bundle])
        let report = try #require(known.report)
        #expect(report.missing.isEmpty && report.applied == .all)
        let attempts = Set(known.refusals.map(\.refusal.description))
        for (attempt, text) in Self.told {
            let expected = text.replacingOccurrences(of: "{outside}", with: surroundings.outside)
                .replacingOccurrences(of: "{home}", with: harness.folder)
                .replacingOccurrences(of: "{bundle}", with: harness.extensions + "/\(bundle).searchext")
                .replacingOccurrences(of: "{host}", with: "\(getpid())")
            #expect(
                attempts.contains { $0 == expected || expected.hasPrefix("/") && $0.hasSuffix(expected) },
                "\(attempt): \(expected) is not among \(attempts.sorted())")
        }
        // By open, by a raw call, by openat2, through its own link, and its attributes in three
        // ways.
        let reads = known.refusals.first { $0.refusal.description == "tried to read \(surroundings.outside)/secret" }
        #expect(reads?.refusal.count == 7)
    }

    @Test("an ordinary user gets no further than root, and status shows each attempt")
    func asOrdinaryUser() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("escapes")
        let surroundings = try Surroundings(harness, bundle: bundle)
        let user = try OrdinaryUser(harness)
        let (code, output) = try user("reindex", "--verbose", bundle)
        #expect(code == 0, "\(output)")
        let messages = output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        expectRefusals(results(messages))
        let (_, status) = try user("status")
        for text in [
            "\(bundle) tried to read \(surroundings.outside)/secret 7 times",
            "\(bundle) tried to run the program /bin/true",
            "\(bundle) tried to use the network (a socket of family inet)", "to its host (process ",
            "\(bundle) tried to change \(surroundings.outside)/new",
        ] {
            #expect(status.contains(text), "\(text): \(status)")
        }
        let (_, information) = try user("extensions", "info", bundle)
        #expect(information.contains("it tried to run the program /bin/true"), "\(information)")
    }
}

extension Harness {
    /// Returns the status according to a process that only reads the store.
    func statusOfAnother() async throws -> StoreStatus {
        let engine = try engine(.readOnly)
        let status = try await engine.status(isExact: false)
        await engine.close()
        return status
    }
}
