// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniformTypeIdentifiers

/// Measures uniform types: conformance, resolution, first use.
enum TypeBenchmarks {
    /// - Parameter isShort: `true` to measure only figures that have a baseline.
    static func run(isShort: Bool) throws -> [Measurement] {
        try conformance(isShort) + resolution(isShort) + (isShort ? [] : firstUse())
    }

    private static func conformance(_ isShort: Bool) -> [Measurement] {
        let pairs: [(UTType, UTType)] = [
            (.html, .text), (.jpeg, .image), (.png, .text), (.swiftSource, .data), (.rtfd, .data),
            (.utf8PlainText, .item),
        ]
        // The naive implementation: a set of names for each type.
        let closures = pairs.map { Set($0.0.supertypes.map(\.identifier)) }
        let names = pairs.map(\.1.identifier)
        let repetitions = isShort ? 20_000 : 200_000
        let bits = medianSeconds(repetitions: repetitions) {
            for (type, other) in pairs { blackHole(type.conforms(to: other)) }
        }
        let sets = medianSeconds(repetitions: repetitions / 10) {
            for index in closures.indices { blackHole(closures[index].contains(names[index])) }
        }
        let scale = 1e9 / Double(pairs.count)
        return [
            Measurement(
                name: "conforms(to:)", value: bits * scale, unit: "ns", baseline: "Set<String>.contains",
                baselineValue: sets * scale, row: .conformance)
        ]
    }

    private static func resolution(_ isShort: Bool) -> [Measurement] {
        let offered: [UTType] = [
            .png, .jpeg, .gif, .tiff, .pdf, .rtf, .html, .xml, .json, .commaSeparatedText,
        ]
        let accepted: [UTType] = [
            .audio, .movie, .archive, .font, .folder, .package, .executable, .bookmark, .vCard, .url,
        ]
        let none = medianSeconds(repetitions: isShort ? 2_000 : 20_000) {
            blackHole(UTTypeResolver.choose(offered: offered, accepted: accepted))
        }
        let plain = medianSeconds(repetitions: isShort ? 200 : 2_000) {
            let closures = offered.map { Set($0.supertypes.map(\.identifier)) }
            blackHole(accepted.contains { request in closures.contains { $0.contains(request.identifier) } })
        }
        return [
            Measurement(
                name: "choose, 10 offered × 10 accepted, none serves", value: none * 1e6, unit: "µs",
                baseline: "sets of supertypes", baselineValue: plain * 1e6, row: .resolution)
        ]
    }

    /// Measures each first use in a new process.
    private static func firstUse() throws -> [Measurement] {
        var samples: [(milliseconds: Double, kilobytes: Double)] = []
        for _ in 0..<15 {
            let text = try ChildProcess.output(["--first-use-of-types"])
            let numbers = text.split(separator: " ").compactMap { Double($0) }
            if numbers.count == 2 { samples.append((numbers[0], numbers[1])) }
        }
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        return [
            Measurement(
                name: "first use of the types", value: median(samples.map(\.milliseconds)), unit: "ms",
                row: .firstUseOfTypes),
            Measurement(
                name: "memory the first use adds", value: median(samples.map(\.kilobytes)), unit: "KB",
                row: .memoryOfTypes),
        ]
    }

    /// Prints the time (milliseconds) and memory (kilobytes) that the first use takes in this
    /// process.
    static func printFirstUse() {
        let before = residentKilobytes()
        let start = ContinuousClock.now
        blackHole(UTType(filenameExtension: "md")?.conforms(to: .text))
        let elapsed = ContinuousClock.now - start
        print(Double(elapsed.components.attoseconds) * 1e-15, residentKilobytes() - before)
    }

    /// Returns the anonymous memory of this process, in kilobytes: its data structures without the
    /// program's own pages.
    private static func residentKilobytes() -> Double {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
        return Double(line.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") ?? 0
    }
}
