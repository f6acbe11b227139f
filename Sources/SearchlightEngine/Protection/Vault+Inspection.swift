// SPDX-License-Identifier: Apache-2.0
import Protection
import SearchIndex
import WriteAheadLog

/// The problems of the protected indexes of a store that are visible without their keys.
///
/// ```swift
/// let inspection = ProtectionInspection(store: directory, reads: true)
/// for problem in inspection.problems { print(problem) }
/// ```
package struct ProtectionInspection: Hashable, Sendable {
    /// The number of protected indexes whose files can be opened.
    package var indexes = 0
    /// A sentence for each problem, with the path of the file.
    package var problems: [String] = []

    /// Creates the inspection of a store without protected indexes.
    init() {}

    /// Reads the files of a store and changes nothing. Blocks. A store without protected indexes
    /// has no problems.
    ///
    /// - Parameter reads: `true` to check the frames of all records too, `false` to read only the
    ///   headers.
    package init(store directory: String, reads: Bool, files: any LogFiles = SystemLogFiles()) {
        let state = Vault.found(in: directory + "/" + Vault.folderName, files, isWritable: false)
        indexes = state.logs.count
        problems = state.allFindings
        guard reads else { return }
        for log in state.logs.values.sorted(by: { $0.header.scope.sortKey < $1.header.scope.sortKey }) {
            do throws(ProtectionError) { _ = try log.endOfRecords() } catch { problems.append(error.description) }
        }
    }
}

extension VerificationReport {
    /// Adds the check of the protected indexes.
    ///
    /// - Parameter known: The findings of an unlocked store, which has decrypted the records.
    mutating func checkProtection(_ inspection: ProtectionInspection, known: [String] = [], isUnlocked: Bool = false) {
        let problems = inspection.problems + known.filter { !inspection.problems.contains($0) }
        guard inspection.indexes > 0 || !problems.isEmpty else { return }
        checks.append(.init(what: "protected indexes", count: inspection.indexes))
        if inspection.indexes > 0, !isUnlocked {
            checks.append(.init(what: "the content of protected indexes", skipped: "it is locked"))
        }
        for problem in problems { findings.append(.init(part: Vault.folderName, problem: problem, repair: .none)) }
    }
}

extension Vault.State {
    /// The problem of the file of keys; `nil` if there is none. A store that has protected indexes
    /// needs the file.
    var problemOfKeys: String? {
        guard keys == nil else { return nil }
        if let unreadableKeys { return unreadableKeys.description }
        guard !logs.isEmpty else { return nil }
        return """
            \(Vault.folderName)/\(Vault.keyFileName) is missing, so protected items cannot be unlocked. Restore it from a \
            backup, or remove the indexes: searchlight forget BUNDLE
            """
    }

    /// The problems of all files.
    var allFindings: [String] { [problemOfKeys].compactMap(\.self) + findings }
}
