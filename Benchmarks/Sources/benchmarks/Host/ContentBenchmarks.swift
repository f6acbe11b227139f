// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Promises
import ServiceMessages
import TestSupport

/// Measures each answer to a promise of 100 MiB: its time until the content is in a new file, and
/// the memory that the worker needs for it.
struct ContentBenchmarks {
    let folder: String

    private static let runs = 9
    private static let megabytes = 100

    /// The answers, with the names of items in `measured.c`.
    private enum Answer: String, CaseIterable {
        case bytes, file, descriptor, stream

        var name: String {
            switch self {
            case .bytes: "bytes in memory (finish_with_data)"
            case .file: "a file (finish_with_file)"
            case .descriptor: "a descriptor (finish_with_descriptor)"
            case .stream: "a stream (finish_with_stream)"
            }
        }
    }

    func run() async throws -> [Measurement] {
        let place = folder + "/content"
        try? FileManager.default.removeItem(atPath: place)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let extensions = try MeasuredExtensions(folder: place)
        let original = place + "/original"
        try Data(repeating: 0, count: Self.megabytes << 20).write(to: URL(filePath: original))
        var (times, memory): ([Answer: [Double]], [Answer: [Double]]) = ([:], [:])
        var copies: [Double] = []
        // The answers alternate, and the first round fills the page cache.
        for run in 0...Self.runs {
            for answer in Answer.allCases {
                let (time, peak) = try await measure(answer, extensions, to: place + "/copy")
                guard run > 0 else { continue }
                times[answer, default: []].append(time)
                memory[answer, default: []].append(peak)
            }
            let copy = try ProcessCost.measure { try SpawnedProgram.run("/bin/cp", [original, place + "/copy"]) }
            try FileManager.default.removeItem(atPath: place + "/copy")
            if run > 0 { copies.append(copy.wall * 1000) }
        }
        let copy = Percentiles(copies).p50
        let comparison = Measurement(
            name: "promise of \(Self.megabytes) MiB as a stream, delivered to a new file",
            value: Percentiles(times[.stream] ?? []).p50, unit: "ms", baseline: "as bytes",
            baselineValue: Percentiles(times[.bytes] ?? []).p50, row: .streamTime)
        return [comparison]
            + Answer.allCases.flatMap { answer in
                [
                    Measurement(
                        name: "promise of \(Self.megabytes) MiB as \(answer.name), delivered to a new file",
                        value: Percentiles(times[answer] ?? []).p50, unit: "ms", baseline: "cp", baselineValue: copy),
                    Measurement(
                        name: "the same, memory of the worker at its peak",
                        value: Percentiles(memory[answer] ?? []).p50,
                        unit: "MiB", baseline: "the content", baselineValue: Double(Self.megabytes),
                        row: answer == .stream ? .streamMemory : nil),
                ]
            }
    }

    /// Returns the time in milliseconds and the growth of the worker's peak memory in MiB, in a
    /// worker that has answered a small promise.
    private func measure(
        _ answer: Answer, _ extensions: MeasuredExtensions, to copy: String
    ) async throws -> (time: Double, memory: Double) {
        let host = extensions.host()
        _ = try await host.data(item: "one", type: "public.data", extensions.c)
        let worker = extensions.lastWorker.load(ordering: .relaxed)
        guard let before = Self.peak(worker) else { throw BenchmarkError("The memory of the worker is unknown.") }
        let cost = try await ProcessCost.measure {
            let promise: PromisedContent
            if answer == .file {
                promise = .file(
                    try await host.file(item: "one", type: "public.data", inPlace: false, extensions.c))
            } else {
                promise = .data(try await host.data(item: answer.rawValue, type: "public.data", extensions.c))
            }
            _ = try Delivery.deliver(promise, to: .file(path: copy), token: 1)
        }
        let after = Self.peak(worker)
        await host.shutdown()
        let length = try FileManager.default.attributesOfItem(atPath: copy)[.size] as? Int
        guard let after, length == Self.megabytes << 20 else {
            throw BenchmarkError("\(answer.rawValue): \(length ?? 0) bytes were delivered.")
        }
        try FileManager.default.removeItem(atPath: copy)
        return (cost.wall * 1000, (after - before) / 1024)
    }

    /// Returns the largest resident memory of a process so far (`VmHWM`), in KiB.
    private static func peak(_ process: Int32) -> Double? {
        (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8))?.split(separator: "\n")
            .first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: \.isWhitespace).dropFirst().first
            .flatMap { Double($0) }
    }
}
