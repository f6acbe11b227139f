// SPDX-License-Identifier: Apache-2.0

/// What a file of the journal is opened for.
package enum JournalFileMode: Hashable, Sendable {
    /// To be read; it must exist.
    case read
    /// To be read and changed; it must exist.
    case update
    /// To be written anew; what was there is emptied.
    case create
}
