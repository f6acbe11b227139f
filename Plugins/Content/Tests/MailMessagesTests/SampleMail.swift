// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import MailMessages

/// A temporary folder with sample mail; deleted when the test ends.
final class SampleMail {
    let path = FileManager.default.temporaryDirectory.path + "/mail-test-" + UUID().uuidString

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Runs the script that generates messages, and returns the files by name.
    func made(_ kind: String) throws -> [String: [UInt8]] {
        let process = Process()
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "sample-mail")
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path, kind, path + "/" + kind]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path + "/" + kind) {
            files[String(name.dropLast(4))] = Array(try Data(contentsOf: URL(filePath: path + "/\(kind)/\(name)")))
        }
        return files
    }

    func write(_ text: String, _ name: String) throws { try write(Array(text.utf8), name) }

    func write(_ bytes: [UInt8], _ name: String) throws {
        let url = URL(filePath: path + "/" + name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    func makeMaildir(_ name: String) throws {
        for part in ["cur", "new", "tmp"] {
            try FileManager.default.createDirectory(
                atPath: path + "/\(name)/\(part)", withIntermediateDirectories: true)
        }
    }
}

func read(_ bytes: [UInt8]) -> Message { bytes.withUnsafeBytes { Message($0) } }
func read(_ text: String) -> Message { read(Array(text.utf8)) }
