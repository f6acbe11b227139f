// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings

/// Reads a database file's schema from a copy, in the same way as a worker.
///
/// ```swift
/// let schema = try DatabaseInspection.schema(of: "/home/me/notes.db")
/// ```
package enum DatabaseInspection {
    /// Copies the file and reads its tables, with some rows from each. Stops after
    /// ``ReadingWatch/seconds``; views and tables that could not be read by then are omitted.
    ///
    /// - Throws: ``BindingFailure``, which names the file.
    package static func schema(of path: String) throws(BindingFailure) -> DatabaseSchema {
        let time = SessionTime.system
        let watch = ReadingWatch(now: time.now, isPerRow: false)
        return try DatabaseSchema.read(try DatabaseReader(path, watch: watch), samples: 20)
    }
}
