// SPDX-License-Identifier: Apache-2.0

/// What a file of the log is opened for.
package enum LogFileMode: Hashable, Sendable {
    /// To be read; it must exist.
    case read
    /// To be read and changed; it must exist.
    case update
    /// To be written anew; what was there is emptied.
    case create
}
