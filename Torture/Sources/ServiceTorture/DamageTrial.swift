// SPDX-License-Identifier: Apache-2.0
import Foundation
import SearchIndex
import SearchlightEngine
import TestSupport
import TortureSupport

/// Damages store files while no process has the store open. The service or `verify` must report a
/// loss, the remaining items must be correct, and a repair must leave no problems.
struct DamageTrial {
    private let place: TorturePlace
    private let service: ServiceProcess
    private let report: TortureReport

    init(_ place: TorturePlace, _ service: ServiceProcess, _ report: TortureReport) {
        (self.place, self.service, self.report) = (place, service, report)
    }

    func run(_ state: inout TortureState, _ random: inout SplitMix64) async throws {
        let epoch = state.epoch
        let batches = try await batches(epoch)
        await service.stop()
        let breakages = try breakFiles(&random)
        let note = "after \(breakages.map(\.description).joined(separator: " and "))"
        let generation = batches.generation
        guard try await service.start() else { throw TortureProblem("the service does not start \(note)") }
        let store = try await service.connect()
        let status = try? await store.perform(StatusCall(isExact: false))
        let findings = status?.lastFindings?.findings ?? []
        var isTold = status.map { $0.generation > generation } ?? true
        // The first check: the store is complete, or a loss is reported.
        var differences: [String] = []
        for (donor, number) in batches.numbers.enumerated() {
            let items = DonatedItems(donor: donor, epoch: epoch, number: number)
            do {
                if let difference = try await items.difference(in: store) { differences.append(difference) }
            } catch {
                // An error that reports the damage is sufficient.
                isTold = true
            }
        }
        await store.close()
        await service.stop()
        let check = try verify()
        isTold = isTold || check.ending == .exited(10) || findings.contains { $0.hasPrefix("journal.head") }
        if !differences.isEmpty, !isTold {
            report.complain("\(note), lost in silence: \(differences.first ?? ""); \(findings); \(check.output)")
        }
        if check.ending == .exited(10) {
            let repair = try verify("--repair")
            if repair.ending != .exited(0) {
                report.complain("\(note), a repair failed (\(repair.ending)): \(repair.output)")
            }
        } else if check.ending != .exited(0) {
            report.complain("\(note), a check failed (\(check.ending)): \(check.output)")
        }
        let second = try verify()
        if second.ending != .exited(0) { report.complain("\(note), a repaired store is damaged: \(second.output)") }
        try await afterRepair(note, batches, &state)
        report.count("files damaged", breakages.count)
    }

    /// Returns each donor's last batch and the intact store's generation.
    private func batches(_ epoch: Int) async throws -> (numbers: [Int], generation: Int) {
        guard try await service.start() else { throw TortureProblem("the service does not start") }
        let store = try await service.connect()
        var numbers: [Int] = []
        for donor in 0..<TorturePlace.donors {
            numbers.append(try await Donor.state(store, TorturePlace.scope(donor: donor, epoch: epoch)))
        }
        let generation = try await store.perform(StatusCall(isExact: false)).generation
        await store.close()
        return (numbers, generation)
    }

    private func breakFiles(_ random: inout SplitMix64) throws -> [FileBreakage] {
        var files: [String: [UInt8]] = [:]
        let names = try FileManager.default.subpathsOfDirectory(atPath: place.store)
        for name in names where !name.hasSuffix(".damaged") {
            let path = place.store + "/" + name
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                continue
            }
            files[name] = Array(try Data(contentsOf: URL(filePath: path)))
        }
        var breakages = [FileBreakage(of: files, &random)]
        if random.below(4) == 0 { breakages.append(FileBreakage(of: files, &random)) }
        for breakage in breakages {
            var bytes = files[breakage.file]
            breakage.apply(&bytes)
            files[breakage.file] = bytes
            let path = place.store + "/" + breakage.file
            // Writes in place, as disk damage would.
            if let bytes {
                let file = try FileHandle(forWritingTo: URL(filePath: path))
                try file.truncate(atOffset: 0)
                try file.write(contentsOf: Data(bytes))
                try file.close()
            } else {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
        return breakages
    }

    private func verify(_ arguments: String...) throws -> (ending: ChildProcess.Ending, output: String) {
        try ChildProcess.run(place.products + "/searchlight", ["verify"] + arguments, environment: place.environment)
    }

    /// Checks the remaining items. If any were lost, starts a new epoch.
    private func afterRepair(
        _ note: String, _ before: (numbers: [Int], generation: Int), _ state: inout TortureState
    ) async throws {
        guard try await service.start() else { throw TortureProblem("the service does not start \(note)") }
        let store = try await service.connect()
        let isLost = try await store.perform(StatusCall(isExact: false)).generation > before.generation
        for (donor, number) in before.numbers.enumerated() {
            let items = DonatedItems(donor: donor, epoch: state.epoch, number: number)
            if let difference = try await items.difference(in: store, partly: isLost) {
                report.complain("\(note), \(isLost ? "with" : "without") a loss, after a repair: \(difference)")
            }
        }
        let bundles = (0..<TorturePlace.donors).map { TorturePlace.scope(donor: $0, epoch: state.epoch).bundle }
        var states: [Int] = []
        for donor in 0..<TorturePlace.donors {
            states.append(try await Donor.state(store, TorturePlace.scope(donor: donor, epoch: state.epoch)))
        }
        if isLost || states != before.numbers {
            if isLost, states.contains(where: { $0 != 0 }) {
                report.complain("\(note): a client state survived a loss")
            }
            report.count("damages with a reported loss")
            for bundle in bundles + TorturePlace.ledgers { _ = try await store.perform(ForgetCall(bundle: bundle)) }
            let left = try await store.perform(ItemCountsCall()).keys.filter(bundles.contains)
            if !left.isEmpty { report.complain("\(note): \(left) were forgotten and have items") }
            for ledger in TorturePlace.ledgers {
                state.ledgersBefore[ledger] = place.acknowledgedReindexes(of: ledger)
            }
            state.epoch += 1
            state.hasClockBeenFar = false
        } else {
            report.count("damages without a loss")
        }
        state.usesBefore = try await UseCounts(place, store)
        await store.close()
    }
}
