// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc

extension csandbox_attempt {
    /// Returns a description of the attempt from its system call arguments.
    func detail(_ kind: SandboxRefusal.Kind, _ name: String, process: pid_t) -> String {
        switch kind {
        case .program: return text(name == "execveat" ? 1 : 0).flatMap { $0.isEmpty ? nil : $0 } ?? "in an open file"
        case .process: return name
        case .network: return networkDetail(name)
        case .signal: return signalTarget(name)
        case .inspection: return inspectionTarget(name)
        case .permissions: return changedFile(name, process: process)
        case .kernel:
            switch name {
            case "fcntl" where number(1) == 1031: return "fcntl for a larger pipe"
            case "ioctl", "fcntl": return "\(name) number \(number(1)) on descriptor \(number(0))"
            case "setsockopt": return "setsockopt number \(number(2)) of level \(number(1))"
            case "prctl": return "prctl number \(number(0))"
            default: return name
            }
        case .read, .write, .memory, .limit: return name
        }
    }

    /// Returns the remedy for an extension that has network access but attempted an operation that
    /// this access does not include.
    func networkRemedy(_ name: String) -> SandboxRefusal.Remedy {
        switch name {
        case "bind", "listen", "accept", "accept4": .noServers
        case "socket" where number(0) == AF_INET || number(0) == AF_INET6: .tcpAlone
        default: .none
        }
    }

    private func networkDetail(_ name: String) -> String {
        switch name {
        case "socket" where number(1) & 0xF == 2 /* SOCK_DGRAM */ && (number(0) == AF_INET || number(0) == AF_INET6):
            return "a socket of family \(Self.family(number(0))), UDP"
        case "socket", "socketpair": return "a socket of family \(Self.family(number(0)))"
        case "sendto", "sendmsg", "sendmmsg": return "\(name) that connects (TCP Fast Open)"
        case "connect", "bind": return "\(name) \(address)"
        default: return name
        }
    }

    private static func family(_ number: Int32) -> String {
        switch number {
        case AF_UNIX: "unix"
        case AF_INET: "inet"
        case AF_INET6: "inet6"
        case AF_NETLINK: "netlink"
        case 17: "packet"
        case 40: "vsock"
        default: "\(number)"
        }
    }

    /// The address of the `connect` or `bind` call, as text.
    private var address: String {
        var bytes = [UInt8](repeating: 0, count: 110)
        let count = min(Int(UInt32(truncatingIfNeeded: self[2])), bytes.count)
        guard count >= 2, csandbox_read_memory(thread, self[1], &bytes, count) == 0 else { return "somewhere" }
        let family = Int32(bytes[0]) | Int32(bytes[1]) << 8
        switch family {
        case AF_UNIX where count > 2:
            let isAbstract = bytes[2] == 0
            let name = bytes[(isAbstract ? 3 : 2)..<count].prefix { $0 != 0 }
            return "unix \(isAbstract ? "@" : "")\(String(decoding: name, as: UTF8.self))"
        case AF_INET where count >= 8:
            let port = Int(bytes[2]) << 8 | Int(bytes[3])
            return "inet \(bytes[4]).\(bytes[5]).\(bytes[6]).\(bytes[7]) port \(port)"
        case AF_INET6 where count >= 24:
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            let written = bytes[8...].withUnsafeBytes { inet_ntop(AF_INET6, $0.baseAddress, &text, UInt32(text.count)) }
            let name =
                written == nil
                ? "?" : String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            return "inet6 \(name) port \(Int(bytes[2]) << 8 | Int(bytes[3]))"
        default: return "family \(Self.family(family))"
        }
    }

    private func signalTarget(_ name: String) -> String {
        let target = number(0)
        switch name {
        case "pidfd_send_signal": return "a process"
        case "tkill": return "thread \(target)"
        case "kill" where target == 0: return "its process group"
        case "kill" where target == -1: return "all processes"
        case "kill" where target < 0: return "process group \(-Int(target))"
        default: return target == getpid() ? "its host (process \(target))" : "process \(target)"
        }
    }

    private func inspectionTarget(_ name: String) -> String {
        let target: Int32?
        switch name {
        case "setpriority", "getpriority", "ioprio_set", "ioprio_get":
            // PRIO_PROCESS is 0 and IOPRIO_WHO_PROCESS is 1; the next values are groups and users.
            switch number(0) - (name.hasPrefix("io") ? 1 : 0) {
            case 1: return "a group of processes (\(name))"
            case 2: return "all processes of a user (\(name))"
            default: target = number(1)
            }
        case "ptrace": target = number(1)
        case "pidfd_getfd", "process_madvise", "process_mrelease", "setsid", "capget": target = nil
        case "clock_gettime", "clock_getres", "clock_nanosleep", "timer_create": target = clockOwner
        default: target = number(0)
        }
        guard let target, target != 0 else { return "others (\(name))" }
        return "\(target == getpid() ? "its host, " : "")process \(target) (\(name))"
    }

    /// The process or thread whose CPU-time clock is named.
    var clockOwner: pid_t { ~(number(0) >> 3) }

    private func changedFile(_ name: String, process: pid_t) -> String {
        let isByDescriptor = ["fchown", "fsetxattr", "fremovexattr"].contains(name)
        let isAt = name.hasSuffix("at") || name == "fchmodat2" || name == "file_setattr"
        func open(_ argument: Int) -> String {
            AttemptedFile.link("/proc/\(process)/fd/\(number(argument))") ?? "an open file"
        }
        if isByDescriptor { return open(0) }
        guard let path = text(isAt ? 1 : 0), !path.isEmpty else { return isAt ? open(0) : "a file" }
        guard let absolute = AttemptedFile.absolute(path, folder: isAt ? number(0) : nil, process: process) else {
            return path
        }
        return AttemptedFile.target(absolute, isLinkItself: name.hasPrefix("l"), process: process) ?? absolute
    }
}
