// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// Measures what the design promises, each figure beside a baseline in the same run.
@main
struct Benchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmarks", abstract: "Measure Searchlight; prints a Markdown table, or JSON.")

    @Flag(help: "Print JSON.")
    var json = false
    @Flag(help: .hidden)
    var firstUseOfTypes = false

    func run() throws {
        if firstUseOfTypes { return TypeBenchmarks.printFirstUse() }
        let measurements = try TypeBenchmarks.run()
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return print(String(decoding: try encoder.encode(measurements), as: UTF8.self))
        }
        print(Measurement.header)
        for measurement in measurements { print(measurement.row) }
    }
}
