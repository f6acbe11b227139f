// SPDX-License-Identifier: Apache-2.0
import Foundation
import SearchIndex

/// Measures how long it takes to open a store in a new process.
enum Opening {
    private static let samples = 9

    /// Measures each opening in its own process. The store must be closed.
    static func run(store: String) throws -> [Measurement] {
        try ["read-write", "read-only"].flatMap { access in
            var opening: [Double] = []
            var searching: [Double] = []
            for _ in 0..<samples {
                let text = try ChildProcess.output(["--open-store", store, "--open-access", access])
                let numbers = text.split(separator: " ").compactMap { Double($0) }
                guard numbers.count == 2 else {
                    throw BenchmarkError("Opening the store in a process of its own failed: \(text).")
                }
                opening.append(numbers[0])
                searching.append(numbers[1])
            }
            return [
                Measurement(name: "opening \(access)", value: Percentiles(opening).p50, unit: "ms", row: .opening),
                Measurement(
                    name: "the first search after opening \(access)", value: Percentiles(searching).p50, unit: "ms"),
            ]
        }
    }

    /// Prints the time to open the store, and for the first search, in this process, in
    /// milliseconds.
    static func printFirst(store: String, access: String) async throws {
        let start = ProcessCost.now
        let index = try SearchIndex(directory: store, access: access == "read-only" ? .readOnly : .readWrite)
        let opened = ProcessCost.now
        blackHole(try await Searching.search(index, SearchQuery(prefix: "wri")))
        let searched = ProcessCost.now
        try await index.close()
        print((opened - start).wall * 1000, (searched - opened).wall * 1000)
    }
}
