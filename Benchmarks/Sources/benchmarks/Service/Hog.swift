// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// Uses a processor as an ordinary program does, in a session of its own.
final class Hog {
    private let process: TestSupport.ChildProcess

    init() throws {
        // Not the leader of a group, so that it becomes that of the session itself.
        process = try TestSupport.ChildProcess("/usr/bin/setsid", ["sh", "-c", "while :; do :; done"])
        RunningChildren.note(process.identifier)
    }

    func stop() {
        RunningChildren.forget(process.identifier)
        process.send(SIGKILL)
        process.wait()
    }
}
