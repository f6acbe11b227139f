// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The meaning of a path below `/proc` for a worker.
///
/// Landlock cannot restrict a process to its own part of `/proc`, because `/proc` lists threads
/// next to processes. libdispatch aborts a process that cannot read `/proc/TID/stat` for its
/// threads. So no rule grants anything in `/proc`. The host opens the files that a worker may read
/// there: files about the worker, and files about the machine.
enum ProcessPath: Equatable, Sendable {
    /// The path does not lead below `/proc`.
    case elsewhere
    /// A file that the host opens for the worker. The value is the path that the host opens.
    case file(String)
    /// One of the worker's own links, which leads to this path. Landlock allows or denies the
    /// target.
    case means(String)
    /// One of the worker's own files that no extension needs.
    case closed
    /// A file about other processes, with a description.
    case others(String)

    /// The first names below `/proc` whose files a worker may read. They describe the machine.
    private static let machine: Set<Substring> = [
        "cpuinfo", "meminfo", "stat", "uptime", "loadavg", "version", "filesystems", "cmdline", "devices", "sys",
    ]
    /// The worker's own files that are denied: for example, its memory as a file, which would allow
    /// writes to read-only memory, and the network tables of all processes.
    private static let unneeded: Set<Substring> = [
        "mem", "clear_refs", "pagemap", "map_files", "ns", "net", "attr",
    ]

    /// Interprets a path.
    ///
    /// - Parameters:
    ///   - path: An absolute path, from the worker's point of view.
    ///   - process: The worker.
    ///   - thread: The calling thread, for `thread-self`.
    ///   - isThread: Returns `true` if a number is a thread of the worker.
    init(
        _ path: String, process: pid_t, thread: pid_t? = nil,
        isThread: (pid_t) -> Bool
    ) {
        guard Self.mayLeadToProcesses(path) else {
            self = .elsewhere
            return
        }
        var names = path.split(separator: "/").filter { $0 != "." }[...]
        // These paths lead to the descriptors of the calling process.
        if path.hasPrefix("/"), names.first == "dev", let second = names.dropFirst().first {
            let standard: [Substring: Substring] = ["stdin": "0", "stdout": "1", "stderr": "2"]
            if second == "fd" {
                names = ["proc", "self", "fd"] + names.dropFirst(2)
            } else if let number = standard[second] {
                names = ["proc", "self", "fd", number]
            }
        }
        guard path.hasPrefix("/"), names.first == "proc" else {
            self = .elsewhere
            return
        }
        names = names.dropFirst()
        guard let first = names.first else {
            self = .others("the list of processes (/proc)")
            return
        }
        // Without “..”, no name leads out of a folder again, so the checked path is the path that
        // is opened.
        if names.contains("..") {
            self = .closed
            return
        }
        var base = "/proc/\(process)"
        names = names.dropFirst()
        switch first {
        case "self": break
        case "thread-self":
            base += "/task/\(thread ?? process)"
        case "mounts":
            self = names.isEmpty ? .file(base + "/mounts") : .closed
            return
        case "net":
            self = .closed
            return
        default:
            guard let number = pid_t(first) else {
                self =
                    Self.machine.contains(first)
                    ? .file("/" + path.split(separator: "/").joined(separator: "/")) : .closed
                return
            }
            guard number == process || isThread(number) else {
                self = .others("process \(number) (\(path))")
                return
            }
            // The number may soon belong to another process, but not below the worker's own folder.
            if number != process { base += "/task/\(number)" }
        }
        if names.first == "task", let text = names.dropFirst().first {
            guard let number = pid_t(text), number == process || isThread(number) else {
                self = .others("process \(text) (\(path))")
                return
            }
            base += "/task/\(number)"
            names = names.dropFirst(2)
        }
        let rest = names.dropFirst()
        switch names.first {
        case "root": self = .means("/" + rest.joined(separator: "/"))
        case "cwd", "exe": self = Self.link(base + "/\(names.first ?? "")", rest)
        case "fd" where !rest.isEmpty: self = Self.link(base + "/fd/\(rest.first ?? "")", rest.dropFirst())
        case let name? where Self.unneeded.contains(name): self = .closed
        default: self = .file(([base] + names.map(String.init)).joined(separator: "/"))
        }
    }

    /// Returns `false` if the path clearly leads elsewhere: if its first name does not begin like
    /// `proc` or `dev`. This is true of most paths, and splitting each one would take longer.
    private static func mayLeadToProcesses(_ path: String) -> Bool {
        var rest = path.utf8[...]
        while rest.starts(with: "/".utf8) || rest.starts(with: "./".utf8) { rest = rest.dropFirst() }
        return rest.isEmpty || rest.starts(with: "proc".utf8) || rest.starts(with: "dev".utf8)
    }

    /// Interprets a path, using the kernel's list of the worker's threads.
    init(_ path: String, process: pid_t, thread: pid_t? = nil) {
        self.init(path, process: process, thread: thread) { number in
            access("/proc/\(process)/task/\(number)", F_OK) == 0
        }
    }

    /// Returns `true` for `/proc/NUMBER/stat` if no process and no thread has that number.
    /// libdispatch opens this file for each of its threads. When a worker exits, a thread may end
    /// before the file is opened.
    static func isOfEndedThread(
        _ path: String, exists: (pid_t) -> Bool = { access("/proc/\($0)", F_OK) == 0 }
    ) -> Bool {
        let names = path.split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 4, names[0].isEmpty, names[1] == "proc", names[3] == "stat",
            let number = pid_t(names[2]), number > 0
        else { return false }
        return !exists(number)
    }

    /// Returns the meaning of one of the worker's links; `closed` if its target has no path.
    private static func link(_ path: String, _ rest: ArraySlice<Substring>) -> ProcessPath {
        guard let start = AttemptedFile.link(path), start.hasPrefix("/") else { return .closed }
        return .means(([start] + rest.map(String.init)).joined(separator: "/"))
    }
}
