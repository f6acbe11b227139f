// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExtensionHost
import Foundation
import Previews
import SearchlightEngine
import Synchronization

struct ReindexCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reindex",
        abstract: "Have extensions donate all their items again.",
        discussion: """
            A reindex that fails stays owed: “searchlight status” shows it, and the next reindex of that bundle makes \
            up for it.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Bundle identifiers; without any, every extension that is found.")
    var bundles: [String] = []
    @Flag(name: .shortAndLong, help: "Show every message of the extensions.")
    var verbose = false

    func run() async throws {
        try await searchlight.run(json: options.json) {
            let watcher = ReindexWatcher(isQuiet: options.json, isVerbose: verbose)
            let engine = try options.engine(.readWrite) { watcher.take($0) }
            do {
                try await reindex(engine, watcher)
            } catch {
                await engine.close()
                throw error
            }
            await engine.close()
        }
    }

    private func reindex(_ engine: SearchlightEngine, _ watcher: ReindexWatcher) async throws {
        let wanted = bundles.isEmpty ? engine.registry.extensions.map(\.identifier) : bundles
        if bundles.isEmpty {
            for refusal in engine.registry.refusals { watcher.complain("\(refusal.path): \(refusal.problem)") }
        }
        guard !wanted.isEmpty else {
            throw EngineError.extension(
                .notFound(identifier: "to reindex", searchPath: engine.registry.searchPath, known: []))
        }
        var reports: [ReindexReport] = []
        var firstError: EngineError?
        for bundle in wanted {
            watcher.begin(bundle)
            let start = ContinuousClock.now
            do throws(EngineError) {
                let items = try await engine.reindexAll(bundle)
                reports.append(watcher.report(bundle, items: items, after: .now - start, error: nil))
            } catch {
                reports.append(watcher.report(bundle, items: nil, after: .now - start, error: error))
                firstError = firstError ?? error
            }
        }
        if options.json { try Output.printJSON(reports) }
        guard let firstError else { return }
        throw ExitCode(ExitStatus(firstError).rawValue)
    }
}

private struct ReindexReport: Encodable {
    var bundle: String
    var items: Int?
    var donated: Int
    var retries: Int
    var seconds: Double
    var messages: [String]
    var error: String?
}

/// Follows a reindex: counts, keeps what the extension says, and shows progress where somebody looks.
private final class ReindexWatcher: Sendable {
    private struct State {
        var donated = 0
        var retries = 0
        var messages: [String] = []
        var hidden = 0
        var progressIsShown = false
    }
    private let state = Mutex(State())
    private let isQuiet: Bool
    private let isVerbose: Bool

    /// So many messages of an extension are shown without --verbose.
    private static let shownMessages = 10

    init(isQuiet: Bool, isVerbose: Bool) {
        self.isQuiet = isQuiet
        self.isVerbose = isVerbose
    }

    func begin(_ bundle: String) { state.withLock { $0 = State() } }

    func complain(_ line: String) {
        if !isQuiet { Output.complain(line) }
    }

    func take(_ event: ExtensionEvent) {
        state.withLock { state in
            switch event {
            case .started: break
            case .donated(let bundle, let count):
                state.donated += count
                guard !isQuiet, Output.showsProgress else { return }
                Output.write("\r\(bundle): \(state.donated) items…", to: 2)
                state.progressIsShown = true
            case .output(_, let line), .log(_, _, let line): message(DisplayText.line(line), &state)
            case .retrying(_, let error):
                state.retries += 1
                // A new worker begins from the beginning.
                state.donated = 0
                message("\(error.description) Trying once more in a fresh worker.", &state, always: true)
            }
        }
    }

    private func message(_ text: String, _ state: inout State, always: Bool = false) {
        state.messages.append(text)
        guard !isQuiet else { return }
        guard always || isVerbose || state.messages.count <= Self.shownMessages else {
            state.hidden += 1
            return
        }
        clearProgress(&state)
        Output.complain("  " + text)
    }

    private func clearProgress(_ state: inout State) {
        if state.progressIsShown { Output.write("\r\u{1B}[K", to: 2) }
        state.progressIsShown = false
    }

    func report(_ bundle: String, items: Int?, after duration: Duration, error: EngineError?) -> ReindexReport {
        state.withLock { state in
            clearProgress(&state)
            let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
            if !isQuiet {
                if state.hidden > 0 { Output.complain("  … and \(state.hidden) more messages (--verbose shows them)") }
                if let items {
                    let time = String(format: "%.1f", seconds)
                    print("\(bundle): \(items) items indexed in \(time) s")
                }
                if let error { Output.complain("searchlight: " + error.description) }
            }
            return ReindexReport(
                bundle: bundle, items: items, donated: state.donated, retries: state.retries,
                seconds: (seconds * 1000).rounded() / 1000, messages: state.messages, error: error?.description)
        }
    }
}
