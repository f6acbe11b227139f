// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// Measures what the design promises, each figure beside a baseline in the same run.
@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmarks", abstract: "Measure Searchlight; prints Markdown tables, or JSON.",
        discussion: "Figures that miss their bar are marked; they are no failure.")

    enum Part: String, CaseIterable, ExpressibleByArgument {
        case types, index, registry, service, bindings, host, returns, promises, previews
    }

    @Flag(help: "Print JSON.")
    var json = false
    @Option(help: "Measure only this part.")
    var only: Part?
    @Option(help: "How many items the index holds: 1,000 to 5,000,000.")
    var items = 100_000
    @Option(help: "What the items and the searches are drawn with.")
    var seed: UInt64 = 2026
    @Option(help: ArgumentHelp("Where the corpus and the stores are made.", valueName: "path"))
    var folder = ".build/benchmarks"
    @Flag(help: "Use the filled stores of an earlier run, and keep them.")
    var keep = false
    @Flag(help: "Leave out the baseline of filling, which takes longest.")
    var withoutRawTables = false
    @Option(
        help: ArgumentHelp("Journal's library, to measure its previews too; built with Plugins/.", valueName: "path"))
    var journal: String?
    @Flag(help: .hidden)
    var firstUseOfTypes = false
    @Flag(help: .hidden)
    var echo = false
    @Option(help: .hidden)
    var openStore: String?
    @Option(help: .hidden)
    var openAccess = "read-write"

    func validate() throws {
        guard (1_000...5_000_000).contains(items) else {
            throw ValidationError("There can be 1,000 to 5,000,000 items.")
        }
    }

    func run() async throws {
        if firstUseOfTypes { return TypeBenchmarks.printFirstUse() }
        if echo { return EchoProcess.answer() }
        if let openStore { return try await Opening.printFirst(store: openStore, access: openAccess) }
        var report = Report()
        if only == nil || only == .types { report.measurements = try TypeBenchmarks.run() }
        if only == nil || only == .bindings { report.measurements += try CallBenchmark.run() }
        if only == nil || only == .index {
            let index = IndexBenchmarks(
                items: items, seed: seed, folder: folder, keepsStores: keep,
                fillsRawTables: !withoutRawTables)
            let rest = try await index.run()
            report.facts += rest.facts
            report.measurements += rest.measurements
            report.searches += rest.searches
        }
        if only == nil || only == .registry {
            report.measurements += try RegistryBenchmarks(folder: folder).run()
        }
        if only == nil || only == .promises {
            report.measurements += try PromiseBenchmarks(folder: folder).run()
        }
        // Only when asked for: it needs searchlightd beside this program.
        if only == .service {
            report.measurements += try await ServiceBenchmarks(folder: folder, seed: seed).run()
        }
        // Only when asked for: it needs searchlight-worker and libCoreSpotlight.so beside this program, and compilers.
        if only == .host { report.measurements += try await HostBenchmarks(folder: folder, seed: seed).run() }
        if only == .returns { report.measurements += try await ReturnBenchmarks(folder: folder).run() }
        if only == .previews {
            report.measurements += try await PreviewBenchmarks(folder: folder, journal: journal).run()
        }
        print(json ? try report.json() : report.markdown)
    }
}
