// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Promises
import SearchIndex
import SearchlightEngine
import Synchronization

/// One run of “drag” for a list of items.
struct DragRun {
    let store: any EngineClient
    let receiver: DragReceiver
    let reports: DropReports
    let options: DragOptions
    let output: String?
    /// The text that the user searched for.
    let query: String?

    /// Drops the items or, with --dry-run, shows the decision for each of them.
    ///
    /// - Throws: The exit status of the first item that failed, after all items were tried.
    func run(_ names: ItemNames, bundle: String?, isDry: Bool) async throws {
        var (found, status): ([(name: String, item: StoredItem)], ExitStatus?) = ([], nil)
        for (name, result) in try await names.find(bundle: bundle, in: store) {
            switch result {
            case .success(let item): found.append((name, item))
            case .failure(let error):
                try reports.failed(name, DragFailure(.init(error), error.description), ExitStatus(error), note: nil)
                status = status ?? ExitStatus(error)
            }
        }
        var notes: Set<String> = []
        let resolutions = found.map { entry -> PromiseResolution in
            let (resolution, remarks) = receiver.resolution(of: entry.item)
            for note in remarks where notes.insert(note).inserted { Output.complain("Note: \(note)") }
            return resolution
        }
        if isDry {
            for (entry, resolution) in zip(found, resolutions) {
                try reports.explain(entry.name, resolution)
                if resolution.choice == nil { status = status ?? .unsupportedType }
            }
        } else if let failure = try await drop(found, resolutions, isOne: names.names.count == 1) {
            status = status ?? failure
        }
        if let status { throw ExitCode(status.rawValue) }
    }

    /// Drops the items.
    ///
    /// - Returns: The status of the first item that failed; `nil` if none failed.
    private func drop(
        _ found: [(name: String, item: StoredItem)], _ resolutions: [PromiseResolution], isOne: Bool
    ) async throws -> ExitStatus? {
        let target = try DropDestination(output, isOne: isOne)
        let items = zip(found, resolutions).map { entry, resolution in
            DragSession<StorePromises>.Item(
                entry.item, resolution: resolution,
                target: target.target(for: entry.item, as: resolution.choice?.type))
        }
        // Progress must not be mixed with JSON, or with bytes on the same terminal.
        let line = DragProgressLine(isWanted: !reports.json && !(target.isStandardOutput && Output.isTerminal))
        var settled = options
        settled.consent = { [options] bytes, limit in
            line.remove()
            return await options.consent(bytes, limit)
        }
        let session = DragSession(StorePromises(store), items: items, options: settled) { line.show($0) }
        await session.prewarm()
        let problem = FirstProblem()
        let delivered = Mutex<Int64?>(nil)
        _ = await session.drop { index, outcome in
            line.remove()
            do {
                switch outcome {
                case .fulfilled(let fulfilment):
                    delivered.withLock { $0 = found[index].item.number }
                    try reports.dropped(found[index].name, fulfilment, to: target)
                case .failed(let failure):
                    if target.isStandardOutput, case .inputOutput(_, _, EPIPE)? = failure.cause as? PromiseError {
                        throw OutputError(code: EPIPE)
                    }
                    problem.note(ExitStatus(failure.kind))
                    try reports.failed(
                        found[index].name, failure, ExitStatus(failure.kind), note: target.note(failure))
                }
            } catch {
                problem.note(error)
                session.cancel()
            }
        }
        // Removes progress that arrived after the last outcome.
        line.remove()
        // Only dragging a single item is counted as a use by the user; a list usually comes from a
        // program.
        if isOne, let item = delivered.withLock({ $0 }) {
            await store.count(.init(item: item, text: query ?? "", kind: .drag))
        }
        if let error = problem.error { throw error }
        return problem.status
    }
}

/// Records the first failure among several items.
private final class FirstProblem: Sendable {
    private let state = Mutex<(status: ExitStatus?, error: (any Error)?)>((nil, nil))

    func note(_ status: ExitStatus) { state.withLock { $0.status = $0.status ?? status } }
    func note(_ error: any Error) { state.withLock { $0.error = $0.error ?? error } }
    var status: ExitStatus? { state.withLock { $0.status } }
    var error: (any Error)? { state.withLock { $0.error } }
}
