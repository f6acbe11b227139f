// SPDX-License-Identifier: Apache-2.0

/// The file system as the log uses it; replaced in tests, where every call can fail. All functions block.
package protocol LogFiles: Sendable {
    /// Makes a folder with mode 0700, durably, unless it is there.
    func createFolder(_ path: String) throws(LogFileError)
    /// The names in a folder, in no order.
    func names(in folder: String) throws(LogFileError) -> [String]
    /// Opens a file; a new one has mode 0600.
    func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile
    /// Renames a file, in place of another if there is one.
    func rename(_ path: String, to other: String) throws(LogFileError)
    /// Removes a file.
    func remove(_ path: String) throws(LogFileError)
    /// Makes the names in a folder durable.
    func synchronizeFolder(_ path: String) throws(LogFileError)
}

extension LogFiles {
    /// Makes a file that appears under its name only with all its contents, durably.
    func createWhole(_ path: String, contents: [UInt8], in folder: String) throws(LogFileError) -> any LogFile {
        let temporary = path + LogFileNames.unfinishedSuffix
        do {
            let file = try open(temporary, for: .create)
            try file.writeAll(contents, at: 0)
            try file.synchronize()
            try rename(temporary, to: path)
        } catch {
            // What is left is removed when the log is opened, if not now.
            try? remove(temporary)
            throw error
        }
        try synchronizeFolder(folder)
        // Opened again, so that errors name it as it is called now.
        return try open(path, for: .update)
    }
}
