// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Prints the progress of a request. The host stops a worker that is silent for several seconds, so
/// long work without donations prints the current path. Not thread-safe: use from one thread at a
/// time.
package final class ProgressLines {
    /// The minimum time between any report and the next report from ``reading(_:)``.
    package static let interval: Duration = .seconds(3)

    private let print: (String) -> Void
    private let now: () -> ContinuousClock.Instant
    private var lastSign: ContinuousClock.Instant

    package init(print: @escaping (String) -> Void, now: @escaping () -> ContinuousClock.Instant) {
        self.print = print
        self.now = now
        lastSign = now()
    }

    /// Prints a line to the log.
    package func say(_ line: String) {
        print(line)
        madeProgress()
    }

    /// Records that the host received a batch, which shows progress.
    package func madeProgress() { lastSign = now() }

    /// Prints the current path, unless the last report was less than ``interval`` ago.
    package func reading(_ path: String) {
        if now() - lastSign >= Self.interval { say("reading \(path.onOneLine)…") }
    }

    /// Writes a line to standard error, which the host collects.
    package static func standardError(_ line: String) {
        // A closed standard error leaves no other way to report the line.
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}

extension String {
    /// The string with line breaks and other control characters escaped, so that a hostile name
    /// cannot forge a log line.
    package var onOneLine: String {
        guard unicodeScalars.contains(where: \.breaksLines) else { return self }
        return unicodeScalars.reduce(into: "") { line, scalar in
            if scalar.breaksLines {
                line += scalar.escaped(asASCII: true)
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
    }

    /// The string escaped for HTML text and for attribute values in double quotes.
    package var escapedForHTML: String {
        var result: [UInt8] = []
        result.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "&"): result += "&amp;".utf8
            case UInt8(ascii: "<"): result += "&lt;".utf8
            case UInt8(ascii: ">"): result += "&gt;".utf8
            case UInt8(ascii: "\""): result += "&quot;".utf8
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns one line with at most `limit` characters. White space becomes single spaces, and
    /// longer text ends with an ellipsis.
    package func firstLine(maximumCharacters limit: Int) -> String {
        var line = ""
        var count = 0
        // Enough bytes for real text, since a character may have any number of scalars.
        var rest = utf8.prefix(limit * 16)
        while let start = rest.firstIndex(where: { $0 > 0x20 }) {
            let end = rest[start...].firstIndex { $0 <= 0x20 } ?? rest.endIndex
            let word = String(decoding: rest[start..<end], as: UTF8.self)
            if count > 0 { line += " " }
            line += word
            count += word.count + 1
            if count > limit { return String(line.prefix(limit - 1)) + "…" }
            rest = rest[end...]
        }
        return line
    }
}

extension Unicode.Scalar {
    fileprivate var breaksLines: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
