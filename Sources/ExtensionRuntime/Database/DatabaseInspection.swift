// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings

/// The schema of a database file, read from a copy as a worker reads it.
///
/// ```swift
/// let schema = try DatabaseInspection.schema(of: "/home/me/notes.db")
/// ```
package enum DatabaseInspection {
    /// Copies the file and reads its tables, with some rows of each. Ends after
    /// ``ReadingWatch/seconds``; views and tables that cannot be read until then are left out.
    ///
    /// - Throws: ``BindingFailure`` that names the file.
    package static func schema(of path: String) throws(BindingFailure) -> DatabaseSchema {
        let time = SessionTime.system
        let watch = ReadingWatch(now: time.now, isPerRow: false)
        return try DatabaseSchema.read(try DatabaseReader(path, watch: watch), samples: 20)
    }
}
