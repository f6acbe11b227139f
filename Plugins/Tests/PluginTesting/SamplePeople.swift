// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Contacts and calendars that `Tests/Fixtures/make-people` generates, in a folder that is deleted
/// at the end.
package final class SamplePeople: Sendable {
    package let folder: String

    /// - Parameter kind: The first argument of the script, such as `contacts`.
    package init(_ kind: String) throws {
        folder = FileManager.default.temporaryDirectory.path + "/people-\(UUID().uuidString)"
        try Self.run([kind, folder])
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs the script and returns its output.
    @discardableResult
    package static func run(_ arguments: [String]) throws -> Data {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/make-people")
        let process = Process()
        // The system's Python has the packages that the script imports.
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [script.path] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
        return data
    }

    package subscript(name: String) -> String { folder + "/" + name }

    /// The names of all files, sorted.
    package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

    /// Returns the contents of all files, sorted by file name.
    package func contents() throws -> [[UInt8]] {
        try names.map { try Array(Data(contentsOf: URL(filePath: self[$0]))) }
    }

    /// Copies all files into a folder.
    package func copy(to target: String) throws {
        for name in names { try FileManager.default.copyItem(atPath: self[name], toPath: target + "/" + name) }
    }
}

/// Changes random bytes in a file.
package struct Mutation<Generator: RandomNumberGenerator> {
    package var random: Generator
    /// Texts that mutations insert.
    private let pieces: [[UInt8]]

    package init(_ random: Generator, pieces: [String]) {
        self.random = random
        self.pieces = pieces.map { Array($0.utf8) }
    }

    package mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0..<12, using: &random) {
            let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where !bytes.isEmpty: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1:
                bytes.removeSubrange(
                    min(place, bytes.count)..<min(bytes.count, place + Int.random(in: 0..<40, using: &random)))
            case 2:
                guard let piece = pieces.randomElement(using: &random) else { continue }
                bytes.insert(contentsOf: piece, at: min(place, bytes.count))
            case 3:
                let end = min(bytes.count, place + Int.random(in: 0..<200, using: &random))
                bytes.insert(contentsOf: Array(bytes[min(place, end)..<end]), at: min(place, bytes.count))
            default: bytes = Array(bytes.prefix(place + 1))
            }
        }
        return bytes
    }
}

/// A random number generator whose results depend only on its seed.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var result = state
        result = (result ^ (result >> 30)) &* 0xBF58_476D_1CE4_E5B9
        result = (result ^ (result >> 27)) &* 0x94D0_49BB_1331_11EB
        return result ^ (result >> 31)
    }
}
