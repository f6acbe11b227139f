// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// Uses a processor as an ordinary program does, in its own session.
final class Hog {
    private let process: TestSupport.ChildProcess

    init() throws {
        // Not a process group leader, since setsid(1) would otherwise fork.
        process = try TestSupport.ChildProcess("/usr/bin/setsid", ["sh", "-c", "while :; do :; done"])
        RunningChildren.note(process.identifier)
    }

    func stop() {
        RunningChildren.forget(process.identifier)
        process.send(SIGKILL)
        process.wait()
    }
}
