// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SystemSupport

/// A look at all that is in a store's folder, before any of it is opened.
enum StoreInspection {
    /// The files that this module and the extension host keep, beside those of the index.
    static let fileNames: [String] =
        ["lock", "extensions.lock", "decisions.log", "decisions.log.1"]
        + ["jobs.json", "extensions.json", "installed.json", "sandbox.json", "schedule.json", "extensions.cache"]
        .flatMap { [$0, $0 + ".new", $0 + ".damaged"] }

    /// Looks at the folder, each step of the way there, and each file of a store. A missing folder is right.
    ///
    /// A named pipe would have its reader wait, a device may have no end, and a link or another name of a file leads to what
    /// is none of the store's. Files that take the place of one later are looked at when they are opened.
    ///
    /// - Throws: ``EngineError/index(_:)`` that names the file, and says what to do.
    static func check(_ directory: String) throws(EngineError) {
        do throws(UntrustedFile) {
            guard try OwnFolder.open(directory, creating: false) != nil else { return }
            for name in fileNames { try OwnFile.check(directory + "/" + name) }
            try OwnFile.check(directory + "/" + StoreLocation.socketName, .socket)
            try StoreFolder(path: directory).check()
        } catch {
            throw .index(SearchIndexError(error))
        }
    }
}
