// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import Testing

@testable import ManualReading

/// Pages on this machine, compared with the output of `man`.
@Suite("Manuals and man", .timeLimit(.minutes(10)))
struct ManualOracleTests {
    private static let man = "/usr/bin/man"
    private static let folder = "/usr/share/man/"
    private static let sections = ["man1", "man3", "man5", "man7", "man8"]

    /// Some pages from each section.
    private static let pages: [String] = {
        let isLong = ProcessInfo.processInfo.environment["SEARCHLIGHT_FUZZ_LONG"] != nil
        return sections.flatMap { section in
            let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder + section)) ?? []).sorted()
            let step = max(1, names.count / (isLong ? 400 : 8))
            return stride(from: 0, to: names.count, by: step).map { folder + section + "/" + names[$0] }
        }
    }()

    private static func shown(_ path: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: man)
        process.arguments = ["--no-hyphenation", "--no-justification", "-Tutf8", "-l", path]
        process.environment = [
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "MANWIDTH": "1000", "MAN_KEEP_FORMATTING": "",
            "GROFF_NO_SGR": "1",
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        // Bold and underlined characters are overstruck.
        return String(decoding: data, as: UTF8.self).replacing(/.\u{8}/.dotMatchesNewlines(), with: "")
    }

    private static func words(_ text: String) -> [String] {
        text.split { !$0.isLetter && !$0.isNumber }.map { String($0) }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: man) && !pages.isEmpty))
    func pageHasTheWordsThatManShows() throws {
        var (found, all) = (0, 0)
        var poor: [String] = []
        for path in Self.pages {
            guard let file = try ManualFile(contentsOf: path) else { continue }
            let content = try file.content { (try? ManualFile(contentsOf: $0)).flatMap { try? $0.contents() } }
            guard content.problem != .missingPage else { continue }
            let own = Set(Self.words(content.text))
            // The first and last lines contain the title, the date and the version.
            let lines = try Self.shown(path).split(separator: "\n").dropFirst().dropLast()
            let words = Self.words(lines.joined(separator: "\n"))
            let count = words.count { own.contains($0) }
            (found, all) = (found + count, all + words.count)
            if count * 100 < words.count * 97 { poor.append("\(path): \(count) of \(words.count)") }
        }
        print("words of \(Self.pages.count) pages that man shows and Manuals has: \(found) of \(all)")
        #expect(all > 0 && found * 1000 >= all * 990, "\(poor)")
        #expect(poor.count * 20 <= Self.pages.count, "\(poor)")
    }
}
