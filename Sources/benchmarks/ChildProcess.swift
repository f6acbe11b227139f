// SPDX-License-Identifier: Apache-2.0
import Foundation

/// This program again, for what can only be measured once in a process.
enum ChildProcess {
    /// What it prints, given some arguments.
    static func output(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
