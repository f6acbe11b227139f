// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Previews
import Synchronization

/// All output to standard output and standard error, so that all text is filtered.
package enum Output {
    /// Returns `true` if a descriptor is a terminal and `NO_COLOR` is unset.
    private static func isColoured(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    }
    /// `true` if standard error is a terminal, where progress may be shown.
    package static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }
    /// `true` if standard output is a terminal.
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The number of columns of standard output; `nil` if it is not a terminal.
    package static var columns: Int? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// Prints a line to standard output.
    package static func line(_ text: StyledText) throws(OutputError) {
        try write(text.rendered(coloured: isColoured(STDOUT_FILENO)) + "\n", to: STDOUT_FILENO)
    }

    /// Prints a line to standard error. A failed write is ignored.
    package static func complain(_ text: StyledText) {
        try? write(text.rendered(coloured: isColoured(STDERR_FILENO)) + "\n", to: STDERR_FILENO)
    }

    /// The maximum length of a printed failure message in characters.
    private static let maximumFailureCharacters = 20_000

    /// Prints a failure message to standard error. Lines after the first are indented, so that
    /// output quoted from an extension cannot look like a line of this program.
    package static func fail(_ description: String) {
        let lines = tidied(description).split(separator: "\n", omittingEmptySubsequences: false)
        let shown = lines.enumerated().map {
            $0.offset == 0 || $0.element.hasPrefix("  ") ? $0.element : "  " + $0.element
        }
        complain("searchlight: \(text: shown.joined(separator: "\n"))")
    }

    /// Returns a message without control characters, with a limited length, and without a doubled
    /// full stop after a quoted sentence.
    package static func tidied(_ description: String) -> String {
        let text = DisplayText.safe(String(description.prefix(maximumFailureCharacters)))
        return text.replacing(/(?<before>[^.\/\s])\.\.(?=\s|$)/) { $0.output.before + "." }
    }

    /// Returns the lines of a message, to be printed separately.
    package static func lines(_ description: String) -> [String] {
        tidied(description).split(whereSeparator: \.isNewline).map(String.init)
    }

    /// Shows progress on the last line of the terminal, replacing the previous progress; `nil`
    /// removes it.
    package static func progress(_ text: StyledText?) {
        let line = text?.rendered(coloured: isColoured(STDERR_FILENO)) ?? ""
        try? write("\r\u{1B}[K" + line, to: STDERR_FILENO)
    }

    /// Prints a value as JSON with sorted keys.
    ///
    /// - Throws: ``OutputError``.
    package static func printJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        let json = String(decoding: try encoder.encode(value), as: UTF8.self)
        try write(DisplayText.safeJSON(json) + "\n", to: STDOUT_FILENO)
    }

    /// Prints a document to standard output. If standard output is a terminal, control characters
    /// are removed.
    package static func document(_ text: String) throws(OutputError) {
        try write(isatty(STDOUT_FILENO) == 1 ? DisplayText.safe(text) : text, to: STDOUT_FILENO)
    }

    /// `true` if anything has been written to standard output.
    package static var hasPrinted: Bool { printed.load(ordering: .relaxed) }
    private static let printed = Atomic(false)

    private static func write(_ text: String, to descriptor: Int32) throws(OutputError) {
        if descriptor == STDOUT_FILENO { printed.store(true, ordering: .relaxed) }
        var text = text
        let code = text.withUTF8 { bytes -> Int32 in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                if count < 0 && errno == EAGAIN {
                    // The parent process made the descriptor non-blocking.
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&waiting, 1, -1)
                    continue
                }
                guard count > 0 else { return errno }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
            return 0
        }
        if code != 0 { throw OutputError(code: code) }
    }
}

/// A failed write to standard output.
package struct OutputError: Error {
    /// The errno code.
    package let code: Int32

    /// Creates the error.
    package init(code: Int32) { self.code = code }

    /// `true` if the reader closed the pipe, as `head` does.
    package var isClosedPipe: Bool { code == EPIPE }

    package var description: String { "Writing to standard output failed: \(String(cString: strerror(code)))." }
}
