// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SystemSupport

/// Checks all files in a store's folder before any of them is opened.
enum StoreInspection {
    /// The files of this module, the extension host and the commands; the index has its own list.
    static let fileNames: [String] =
        ["lock", "extensions.lock", "decisions.log", "decisions.log.1", FollowedFiles.lookName]
        + FollowedFiles.databaseNames + StoreFileName.allCases.map(\.rawValue)
        + [
            "jobs.json", "extensions.json", "installed.json", "sandbox.json", "schedule.json", "extensions.cache",
            OmissionStore.fileName, DesktopVisibilityFile.fileName, UnfinishedRemovals.fileName,
        ]
        .flatMap { [$0, $0 + ".new", $0 + ".damaged"] }

    /// Checks the folder, each component of its path, and each file in the store. A missing folder
    /// is valid.
    ///
    /// A named pipe would block its reader, a device may be endless, and a symbolic or hard link
    /// leads to a file outside the store. If a file is replaced after this check, it is checked
    /// again when it is opened.
    ///
    /// - Throws: ``EngineError/index(_:)`` with the file's name and advice.
    static func check(_ directory: String) throws(EngineError) {
        do throws(UntrustedFile) {
            guard try OwnFolder.open(directory, creating: false) != nil else { return }
            for name in fileNames { try OwnFile.check(directory + "/" + name) }
            try OwnFile.check(directory + "/" + Vault.folderName, .folder)
            try OwnFile.check(directory + "/" + StoreLocation.socketName, .socket)
            try StoreFolder(path: directory).check()
        } catch {
            throw .index(SearchIndexError(error))
        }
    }
}
