// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// What a command prints and how.
enum Output {
    /// Whether standard output is a terminal that wants colour.
    static var isColoured: Bool { isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil }
    /// Whether standard error is a terminal, where progress may be shown.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }

    static func bold(_ text: some StringProtocol) -> String { isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : String(text) }
    static func dim(_ text: some StringProtocol) -> String { isColoured ? "\u{1B}[2m\(text)\u{1B}[0m" : String(text) }
    static func found(_ text: some StringProtocol) -> String {
        isColoured ? "\u{1B}[1;33m\(text)\u{1B}[0m" : String(text)
    }

    /// Prints a line on standard error.
    static func complain(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

    /// Prints a value as JSON with sorted keys.
    static func printJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        print(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Writes text as it is, all of it.
    static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
