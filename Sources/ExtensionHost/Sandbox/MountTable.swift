// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Detects mounts and unmounts in this process's mount namespace.
///
/// The kernel reports each change once to a `poll` of the mount table (proc_pid_mountinfo(5)). The
/// `poll` takes less than a microsecond and waits for no file system.
final class MountTable: Sendable {
    static let own = MountTable()

    private struct State {
        var descriptor: Int32
        var version = 0
    }
    private let state: Mutex<State>

    private init() {
        state = Mutex(State(descriptor: open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)))
    }

    deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

    /// A number that grows with each change; `nil` if the kernel does not report changes.
    var version: Int? {
        state.withLock { state in
            guard state.descriptor >= 0 else { return nil }
            var poll = pollfd(fd: state.descriptor, events: Int16(POLLPRI), revents: 0)
            guard Glibc.poll(&poll, 1, 0) >= 0 else { return nil }
            if poll.revents & Int16(POLLPRI | POLLERR) != 0 { state.version += 1 }
            return state.version
        }
    }
}
