// SPDX-License-Identifier: Apache-2.0

/// The file operations of the log. Tests replace them to make any call fail. All functions block.
package protocol LogFiles: Sendable {
    /// Creates a folder with mode 0700 durably, if it does not exist.
    func createFolder(_ path: String) throws(LogFileError)
    /// Returns the names in a folder, in no particular order.
    func names(in folder: String) throws(LogFileError) -> [String]
    /// Opens a file; a new file has mode 0600.
    func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile
    /// Renames a file, replacing an existing one.
    func rename(_ path: String, to other: String) throws(LogFileError)
    /// Removes a file.
    func remove(_ path: String) throws(LogFileError)
    /// Makes the names in a folder durable.
    func synchronizeFolder(_ path: String) throws(LogFileError)
}

extension LogFiles {
    /// Durably creates a file that appears under its name only with its complete contents.
    package func createWhole(_ path: String, contents: [UInt8], in folder: String) throws(LogFileError) -> any LogFile {
        let temporary = path + LogFileNames.unfinishedSuffix
        do {
            let file = try open(temporary, for: .create)
            try file.writeAll(contents, at: 0)
            try file.synchronize()
            try rename(temporary, to: path)
        } catch {
            // If this fails, the file is removed when the log is next opened.
            try? remove(temporary)
            throw error
        }
        try synchronizeFolder(folder)
        // Reopened, so that error messages contain the current name.
        return try open(path, for: .update)
    }
}
