// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightService

/// Writes lines to standard error: for the journal with the level in front (sd-daemon(3)), for people without.
struct StandardError: Sendable {
    private let isJournal: Bool

    init(_ environment: [String: String]) {
        var status = stat()
        // The variable may be inherited by one whose standard error is something else.
        isJournal =
            fstat(STDERR_FILENO, &status) == 0 && environment["JOURNAL_STREAM"] == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one line, whole; what cannot be written is lost.
    var write: ServiceLog.Sink {
        { [isJournal] level, text in
            var line = Array((isJournal ? "<\(level.rawValue)>" : "searchlightd: ").utf8) + Array(text.utf8)
            line.append(UInt8(ascii: "\n"))
            _ = Glibc.write(STDERR_FILENO, line, line.count)
        }
    }
}
