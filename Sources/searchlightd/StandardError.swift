// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightService

/// Writes log lines to standard error: with a level prefix for the systemd journal (sd-daemon(3)),
/// or with the program's name otherwise.
struct StandardError: Sendable {
    private let isJournal: Bool

    init(_ environment: [String: String]) {
        var status = stat()
        // A process whose standard error is not the journal may have inherited the variable, so the
        // device and inode are compared.
        isJournal =
            fstat(STDERR_FILENO, &status) == 0 && environment["JOURNAL_STREAM"] == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one line with a single system call; errors are ignored.
    var write: ServiceLog.Sink {
        { [isJournal] level, text in
            var line = Array((isJournal ? "<\(level.rawValue)>" : "searchlightd: ").utf8) + Array(text.utf8)
            line.append(UInt8(ascii: "\n"))
            _ = Glibc.write(STDERR_FILENO, line, line.count)
        }
    }
}
