// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// A reference to one process that does not match a later process with the same ID. It uses a
/// pidfd, or the start time on kernels without pidfds.
struct ProcessHandle: Sendable {
    private enum Proof: Sendable {
        case descriptor(OwnedDescriptor)
        case startTime(String, processes: String)
    }

    let process: pid_t
    private let proof: Proof

    /// Creates a handle for a process from its pidfd.
    init(_ process: pid_t, descriptor: OwnedDescriptor) {
        self.process = process
        proof = .descriptor(descriptor)
    }

    /// Creates a handle for the process that currently has the ID.
    init(_ process: pid_t, processes: String) throws(PeerIdentityError) {
        let number = csystem_open_process(process)
        if number >= 0 {
            self.init(process, descriptor: OwnedDescriptor(adopting: number))
        } else if errno == ENOSYS {
            try self.init(process, startTimeIn: processes)
        } else {
            throw .gone(process: process)
        }
    }

    /// Creates a handle for the process that currently has the ID, on kernels before 5.3.
    init(_ process: pid_t, startTimeIn processes: String) throws(PeerIdentityError) {
        guard let time = Self.startTime(process, processes) else { throw .gone(process: process) }
        self.process = process
        proof = .startTime(time, processes: processes)
    }

    var isAlive: Bool {
        switch proof {
        case .descriptor(let descriptor):
            // A pidfd becomes readable when its process exits (pidfd_open(2)).
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0) == 0
        case .startTime(let time, let processes): return Self.startTime(process, processes) == time
        }
    }

    /// Returns field 22 of `/proc/<pid>/stat`; `nil` for a process that has exited. The process
    /// name is in parentheses and may contain any character, so parsing starts after the last
    /// closing parenthesis.
    private static func startTime(_ process: pid_t, _ processes: String) -> String? {
        guard let bytes = try? BoundedFile.read("\(processes)/\(process)/stat", limit: 4096),
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19, let state = fields[0].first, !"ZXx".utf8.contains(state) else { return nil }
        return String(decoding: fields[19], as: UTF8.self)
    }
}
