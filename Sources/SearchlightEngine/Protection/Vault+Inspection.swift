// SPDX-License-Identifier: Apache-2.0
import Protection
import SearchIndex
import WriteAheadLog

/// The problems of the protected indexes of a store.
///
/// ```swift
/// let inspection = ProtectionInspection(store: directory, reads: true)
/// for problem in inspection.problems { print(problem) }
/// ```
package struct ProtectionInspection: Hashable, Sendable {
    /// The number of protected indexes whose files can be opened.
    package var indexes = 0
    /// The problems, with the paths of the files.
    package private(set) var findings: [VerificationReport.Finding] = []
    /// `true` if all records were decrypted.
    package fileprivate(set) var isDecrypted = false

    /// A sentence for each problem, with the path of the file.
    package var problems: [String] { findings.map(\.problem) }

    /// Creates the inspection of a store without protected indexes.
    init() {}

    /// Reads the files of a store and changes nothing. Blocks. A store without protected indexes
    /// has no problems. Without their keys, only damage is visible.
    ///
    /// - Parameter reads: `true` to check all records too, `false` to read only the headers.
    package init(store directory: String, reads: Bool, files: any LogFiles = SystemLogFiles()) {
        self.init(folder: directory + "/" + Vault.folderName, reads: reads, files)
    }

    fileprivate init(folder: String, reads: Bool, _ files: any LogFiles) {
        let state = Vault.found(in: folder, files, isWritable: false)
        indexes = state.logs.count
        for problem in state.allFindings { add(problem) }
        guard reads else { return }
        for log in state.sortedLogs { add(Self.problems(of: log), .unlock) }
    }

    fileprivate static func problems(of log: SealedLog) -> [String] {
        do throws(ProtectionError) { return try log.problems() } catch { return [error.description] }
    }

    fileprivate mutating func add(_ problems: [String], _ repair: VerificationReport.Repair) {
        for problem in problems { add(problem, repair) }
    }

    /// Adds a problem. A later finding of the same problem has the better repair.
    fileprivate mutating func add(_ problem: String, _ repair: VerificationReport.Repair = .none) {
        findings.removeAll { $0.problem == problem }
        findings.append(.init(part: Vault.folderName, problem: problem, repair: repair))
    }
}

extension VerificationReport {
    /// Adds the check of the protected indexes.
    mutating func checkProtection(_ inspection: ProtectionInspection) {
        guard inspection.indexes > 0 || !inspection.findings.isEmpty else { return }
        checks.append(.init(what: "protected indexes", count: inspection.indexes))
        if inspection.indexes > 0, !inspection.isDecrypted {
            checks.append(.init(what: "the content of protected indexes", skipped: "it is locked"))
        }
        findings += inspection.findings
    }

    /// The problems of protected indexes.
    package var protectionFindings: [Finding] { findings.filter { $0.part == Vault.folderName } }
}

extension Vault {
    /// Checks the files, with the keys if the store is unlocked. Changes nothing.
    func inspection() async -> ProtectionInspection {
        // Donations must not append during the check.
        await serially { [self] in
            let inspection = try? await onFiles { [self] () throws(ProtectionError) in
                ProtectionInspection(folder: folder, reads: true, files)
            }
            guard var inspection else { return ProtectionInspection() }
            var known = state.withLock { $0 }
            let (keys, stamp) = readKeys()
            known.noteKeys(keys, stamp, path: keyPath, needed: neededKeys)
            if let problem = known.problemOfKeys, known.keys != nil { inspection.add(problem, .rewriteKeys) }
            for log in known.sortedLogs where !log.isInPlace {
                inspection.add(
                    ProtectionError.replaced(path: log.path).description, log.isUnlocked ? .rewriteProtected : .unlock)
            }
            guard known.unlocked != nil else { return inspection }
            inspection.isDecrypted = true
            let ofFiles = inspection.problems
            for problem in known.findings + known.unlockFindings where !inspection.problems.contains(problem) {
                inspection.add(problem)
            }
            for log in known.sortedLogs {
                if log.isUnlocked {
                    // A repair does nothing about a file that only was better before.
                    let isIncomplete = known.incomplete.contains(log.header.scope)
                    for problem in inspection.problems
                    where problem.contains(log.path) && (isIncomplete || ofFiles.contains(problem)) {
                        inspection.add(problem, .rewriteProtected)
                    }
                }
                guard log.isUnlocked else {
                    // Foreign keys, more items than the limit, or a lock since.
                    inspection.isDecrypted = false
                    continue
                }
                do throws(EngineError) {
                    inspection.add(try await problems(of: log), .rewriteProtected)
                } catch {
                    inspection.isDecrypted = false
                    if error != .protection(.locked) { inspection.add(error.description, .rewriteProtected) }
                }
            }
            return inspection
        }
    }

    /// The records of an unlocked file that unlocking does not read, a sentence for each.
    func problems(of log: SealedLog) async throws(EngineError) -> [String] {
        let scope = log.header.scope
        return try await onFiles { () throws(ProtectionError) in
            var position: SealedLog.Position?
            var problems: [String] = []
            repeat {
                let page = try log.records(from: position, maximumBytes: 1 << 20)
                problems += page.findings
                for record in page.records {
                    let entry = record.withUnsafeBytes { try? LogEntry(decoding: $0) }
                    guard let entry, entry.scope == scope, (try? SearchIndex.check(entry.batch)) != nil else {
                        problems.append(Self.malformedRecord(of: log))
                        continue
                    }
                }
                position = page.next
            } while position != nil && problems.count < Self.maximumFindings
            return problems
        }
    }

    /// The sentence for a record that is authentic and cannot be used.
    static func malformedRecord(of log: SealedLog) -> String {
        "A record of \(log.path) is malformed and is not read."
    }

    // MARK: Repair

    /// The result of a repair.
    struct Repair: Sendable {
        /// The actions, one sentence each.
        var done: [String] = []
        /// The bundles that have lost items, or that lose items when the repair writes a file.
        var losing: Set<String> = []
    }

    /// Repairs files from memory. Writes the file of keys again, which needs no unlocking because
    /// the keys in it are sealed. While the store is unlocked, also writes each damaged file of an
    /// index.
    ///
    /// - Parameter onLoss: Called with a bundle before a file is written without some of its items.
    func repair(onLoss: @escaping @Sendable (String) throws(EngineError) -> Void) async throws(EngineError) -> Repair {
        guard isWritable else { return Repair() }
        let result: Result<Repair, EngineError> = await serially { [self] in
            do throws(EngineError) { return .success(try await repairNow(onLoss)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func repairNow(_ onLoss: (String) throws(EngineError) -> Void) async throws(EngineError) -> Repair {
        var repair = Repair()
        let isWritten = try await onFiles { [self] () throws(ProtectionError) in
            readKeysAgain()
            let (file, problem) = state.withLock { ($0.keys, $0.problemOfKeys) }
            guard problem != nil, let file else { return false }
            // The folder may have been removed.
            do throws(LogFileError) { try files.createFolder(folder) } catch { throw ProtectionError(error) }
            try write(file)
            return true
        }
        if isWritten { repair.done.append("\(folder)/\(Self.keyFileName) was written again from memory.") }
        let (unlocked, vault, logs, locks) = state.withLock { ($0.unlocked, $0.keys?.vault, $0.sortedLogs, $0.locks) }
        guard let unlocked, let vault else { return repair }
        // A suspend waits until the keys and items of this work are gone from the memory too.
        defer { withExtendedLifetime(unlocked.session) {} }
        let problems = try await onFiles { [folder, files] () throws(ProtectionError) in
            ProtectionInspection(folder: folder, reads: true, files).problems
        }
        for log in logs where log.isUnlocked {
            // A file that cannot be read at all is written again too.
            let isReadable = (try? await self.problems(of: log))?.isEmpty == true
            let isDamaged = !isReadable || problems.contains { $0.contains(log.path) }
            let isIncomplete = state.withLock { $0.incomplete.contains(log.header.scope) }
            guard isDamaged || isIncomplete || !log.isInPlace else { continue }
            guard !isIncomplete || isDamaged && log.isInPlace else {
                // It was restored from a backup, and has records that are not in memory.
                repair.done.append("\(log.path) was repaired by another program. Lock and unlock, to read it.")
                continue
            }
            do throws(EngineError) {
                if isIncomplete {
                    try onLoss(log.header.scope.bundle)
                    repair.losing.insert(log.header.scope.bundle)
                }
                try await rewrite(log, from: unlocked.index, unlocked.master, vault, locks)
            } catch {
                guard error != .protection(.locked) else { throw error }
                repair.done.append("\(log.path) could not be written again. \(error)")
                continue
            }
            state.withLock { state in
                state.findings.removeAll { $0.contains(log.path) }
                state.unlockFindings.removeAll { $0.contains(log.path) }
                state.incomplete.remove(log.header.scope)
            }
            repair.done.append(
                "\(log.path) was written again from the items in memory."
                    + (isIncomplete ? " The items of its unreadable records are lost." : ""))
        }
        return repair
    }
}

extension SearchlightEngine {
    /// Repairs the files of protected indexes from the items in memory, without a lock. A reindex
    /// of each app that lost items becomes pending.
    ///
    /// - Returns: The actions, one sentence each.
    package func repairProtection() async throws(EngineError) -> [String] {
        var repair = try await vault.repair { [self] (bundle) throws(EngineError) in
            // Before the file is written, so that an end of the process loses no request.
            try owe(.reindexAll, of: bundle, cause: .lost)
        }
        for bundle in repair.losing.sorted() { repair.done.append("A reindex of \(bundle) is pending.") }
        return repair.done
    }
}

extension Vault.State {
    /// The problem of the file of keys; `nil` if there is none. A store that has protected indexes
    /// needs the file.
    var keysProblem: ProtectionError? {
        if let unreadableKeys { return unreadableKeys }
        guard let missingKeys, !logs.isEmpty || unlocked != nil else { return nil }
        return .missingKeys(path: missingKeys)
    }

    /// The sentence for ``keysProblem``.
    var problemOfKeys: String? { keysProblem?.description }

    /// The problems of all files.
    var allFindings: [String] {
        var all: [String] = []
        for finding in [problemOfKeys].compactMap(\.self) + findings + unlockFindings where !all.contains(finding) {
            all.append(finding)
        }
        return all
    }

    /// The files by bundle and name.
    var sortedLogs: [SealedLog] { logs.values.sorted { $0.header.scope.sortKey < $1.header.scope.sortKey } }
}
