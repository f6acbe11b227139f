// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Foundation
import Glibc
import MetadataQuery
import SearchIndex
import SearchlightEngine
import TestSupport
import TortureSupport

/// Checks the guarantees after all faults have ended.
struct InvariantCheck {
    /// The time limit for a condition to become true.
    private static let patience = Duration.seconds(30)
    /// The limits for a service at rest: descriptors, except those for its workers, and anonymous
    /// memory.
    private static let descriptors = 64
    private static let descriptorsPerWorker = 10
    private static let mebibytes = 256
    /// The files that the folder of a closed store may contain. A killed process may also leave a
    /// `.new` file, which the next writer replaces.
    private static let files: Set = [
        "index.sqlite", "journal", "jobs.json", "installed.json", "extensions.json", "extensions.lock",
        "sandbox.json",
        "sandbox.lock", "schedule.json", "extensions.cache", "lock", "decisions.log", "decisions.log.1",
        "files.sqlite", "files.looked", "omissions.json", "forgetting.json", "model",
    ]

    let place: TorturePlace
    let report: TortureReport
    let state: TortureState
    private let service: ServiceProcess

    init(_ place: TorturePlace, _ service: ServiceProcess, _ report: TortureReport, _ state: TortureState) {
        (self.place, self.service, self.report, self.state) = (place, service, report, state)
    }

    /// Checks all guarantees through the service.
    func run(_ replacer: Replacer) async throws {
        let store = try await service.connect()
        try await eventually("those who are gone are still connected") {
            try await store.perform(FactsCall()).clients == 1
                ? nil : "\(try await store.perform(FactsCall()).clients) clients"
        }
        try await donations(store)
        try await ledgers(store)
        try await owed(store)
        try await replaced(store, replacer)
        try await followed(store)
        try await embedded(store)
        try await uses(store)
        let status = try await store.perform(StatusCall(isExact: true))
        if status.hasDamagedJobs || status.hasDamagedSchedule || status.needsRepair || status.generation < 1 {
            report.complain("the store says that it is damaged: \(status.lastFindings?.findings ?? [])")
        }
        report.note("bytes of the store, in KiB", peak: folderSize(place.store) / 1024)
        await store.close()
        try await atRest()
        report.count("checks of all invariants")
    }

    /// Waits until a check finds no problem. A problem that persists beyond the time limit is a
    /// violation.
    ///
    /// - Returns: `true` if there is no problem any more.
    @discardableResult
    func eventually(
        _ what: String, within patience: Duration = InvariantCheck.patience, _ body: () async throws -> String?
    ) async throws -> Bool {
        let clock = ContinuousClock()
        let begin = clock.now
        while let problem = try await body() {
            guard clock.now - begin < patience else {
                report.complain("\(what): \(problem)")
                return false
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        return true
    }

    private func folderSize(_ path: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.reduce(0) { $0 + fileSize(path + "/" + $1) }
    }

    private func fileSize(_ path: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int) ?? 0
    }

    // MARK: - Donations

    private func donations(_ store: RemoteEngine) async throws {
        for donor in 0..<TorturePlace.donors {
            let scope = TorturePlace.scope(donor: donor, epoch: state.epoch)
            let acknowledged = Donor.acknowledged(place, donor: donor, epoch: state.epoch)
            let number = try await Donor.state(store, scope)
            // A batch may be durable although its donor was killed before it logged the
            // acknowledgement.
            if number != acknowledged, number != acknowledged + 1 {
                report.complain("\(scope.bundle): \(acknowledged) was acknowledged, the state is \(number)")
            }
            let difference = try await DonatedItems(donor: donor, epoch: state.epoch, number: number).difference(
                in: store)
            if let difference { report.complain("\(scope.bundle), batch \(number): \(difference)") }
            report.count("items checked", try await store.perform(ItemCountsCall())[scope.bundle] ?? 0)
        }
    }

    /// Checks that each acknowledged reindex of a ledger added a batch, and that all batches are
    /// stored.
    private func ledgers(_ store: RemoteEngine) async throws {
        for bundle in TorturePlace.ledgers {
            let least = place.acknowledgedReindexes(of: bundle) - (state.ledgersBefore[bundle] ?? 0)
            try await eventually("a ledger is not whole") {
                let batches = try await Donor.state(store, IndexScope(bundle: bundle, index: "ledger"))
                var found: [String: Int] = [:]
                for item in try await store.allItems(of: bundle) {
                    guard case .integer(let batch)? = item.record.attributes["pageCount"],
                        found.updateValue(Int(batch), forKey: item.record.uniqueIdentifier) == nil
                    else { return "\(bundle): \(item.record.uniqueIdentifier) is there twice" }
                }
                var expected = batches > 0 ? ["last": batches] : [:]
                for batch in 0..<batches { for item in 0..<5 { expected["\(batch + 1)-\(item)"] = batch + 1 } }
                // Some items may have expired.
                if state.hasClockBeenFar { expected = expected.filter { found[$0.key] != nil } }
                // The extension may be running in the background.
                guard try await Donor.state(store, IndexScope(bundle: bundle, index: "ledger")) == batches else {
                    return ""
                }
                if batches < least {
                    return "\(bundle): \(least) reindexes were acknowledged, \(batches) batches are there"
                }
                return found == expected
                    ? nil : "\(bundle): of \(batches) batches \(found.count) items of \(expected.count)"
            }
        }
    }

    // MARK: - Pending reindexes

    /// Checks that a reindex is pending if it was requested but not acknowledged.
    private func owed(_ store: RemoteEngine) async throws {
        for bundle in TorturePlace.writers {
            try await eventually("a reindex is neither acknowledged nor pending") {
                let log =
                    (try? String(contentsOfFile: place.folder + "/Documents/marks/jobs.log", encoding: .utf8)) ?? ""
                let last = log.split(separator: "\n").last {
                    $0 == "asked \(bundle) all" || $0 == "ack \(bundle) all"
                }
                guard last?.hasPrefix("asked") == true else { return nil }
                return try await store.perform(PendingReindexesCall()).contains { $0.bundle == bundle } ? nil : bundle
            }
        }
    }

    // MARK: - Replacements

    private func replaced(_ store: RemoteEngine, _ replacer: Replacer) async throws {
        for (bundle, expected) in replacer.current.sorted(by: { $0.key < $1.key }) {
            try await eventually("a replaced extension was not noticed") {
                let listing = try await store.perform(ExtensionListingCall())
                guard let found = listing.extensions.first(where: { $0.identifier == bundle }) else {
                    return "\(bundle) is missing: \(listing.refusals.filter { $0.likelyIdentifier == bundle })"
                }
                guard found.version == expected.version else {
                    return "\(bundle) has version \(found.version), not \(expected.version)"
                }
                return found.state == .ready ? nil : "\(bundle) is \(found.state): \(found.reason ?? "")"
            }
            do {
                try await eventually("a replaced extension is not asked as it is now") {
                    do {
                        _ = try await store.perform(ReindexCall(bundle: bundle))
                    } catch EngineError.alreadyReindexing { return "\(bundle) is being reindexed" }
                    let item = try await store.item(named: "version", bundle: bundle)
                    let titles = item.record.texts("title")
                    let content = try await store.fulfil(.init(type: "public.html", form: .data), of: item)
                    guard case .data(.inline(let bytes)) = content else { return "\(bundle) gave no data" }
                    let answer = String(decoding: bytes, as: UTF8.self)
                    return titles == [expected.answer] && answer == expected.answer
                        ? nil : "\(bundle) says \(titles) and \(answer), and is \(expected.answer)"
                }
            } catch {
                report.complain("\(bundle), which is good again, fails: \(error)")
            }
        }
    }

    // MARK: - Leaks

    /// Checks that no client is connected, and that memory and descriptors are within the limits.
    private func atRest() async throws {
        guard let identifier = service.identifier else { return }
        try await eventually("the service holds too much") {
            let facts = ProcessFacts(identifier)
            let memory = ProcessFacts.memory(of: identifier)?.now ?? 0
            report.note("descriptors of the service at rest", peak: facts.descriptors)
            report.note("MiB of memory of the service at rest", peak: memory / 1024)
            let allowed = Self.descriptors + facts.children * Self.descriptorsPerWorker
            guard facts.descriptors > allowed || memory > Self.mebibytes << 10 else { return nil }
            return "\(facts), \(memory / 1024) MiB"
        }
    }

    /// Stops the service. Then checks that no process and no unexpected file is left, and that
    /// `verify` finds no problem.
    func afterTheEnd() async throws {
        // Commands may outlive their clients. SQLite deletes its WAL when the last connection that
        // may write closes, so a read-only command that exits later would legitimately leave the
        // WAL.
        try await nothing("commands or workers", besides: service.identifier)
        opened()
        await service.stop()
        try await nothing("processes", besides: nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.store).sorted()
        let stray = names.filter { name in
            let file = name.hasSuffix(".new") ? String(name.dropLast(4)) : name
            return !Self.files.contains(file) && !file.hasSuffix(".journal") && !name.hasSuffix(".damaged")
        }
        if !stray.isEmpty { report.complain("files are left in the store: \(stray)") }
        // SQLite removes the name of a temporary file right after it has opened the file. A process
        // that is killed in between leaves an empty file.
        let temporary = try FileManager.default.contentsOfDirectory(atPath: place.folder + "/tmp")
            .filter { !$0.hasPrefix("etilqs_") || fileSize(place.folder + "/tmp/" + $0) != 0 }
        if !temporary.isEmpty { report.complain("temporary files are left: \(temporary)") }
        let (ending, output) = try ChildProcess.run(
            place.products + "/searchlight", ["verify"], environment: place.environment)
        if ending != .exited(0) { report.complain("“searchlight verify” found something (\(ending)): \(output)") }
    }

    /// Waits until this process has no other children.
    private func nothing(_ what: String, besides service: Int32?) async throws {
        try await eventually("\(what) are left") {
            for process in ProcessFacts.ended(childrenOf: getpid()) { ChildProcess.reapInherited(process) }
            let left = ProcessFacts.children(of: getpid()).filter { $0 != service }
            return left.isEmpty ? nil : "\(left.map { "\($0) \(Self.commandLine($0))" })"
        }
    }

    private static func commandLine(_ process: Int32) -> String {
        let data = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
        return String(decoding: data, as: UTF8.self).replacing("\0", with: " ")
    }
}
