// SPDX-License-Identifier: Apache-2.0

/// Finds the end of the D-Bus authentication in a byte stream. sd-bus itself interprets the lines.
///
/// A client's part ends with the line `BEGIN`. A server's part ends with the line after its `OK`,
/// which states whether descriptors may be sent (D-Bus specification, Authentication Protocol).
struct AuthenticationTracker {
    /// The side that sends the lines.
    private let sender: BusConnection.Side
    private let maximum: Int
    private var count = 0
    /// The current line without its terminator, cut to ``keptBytes``.
    private var line: [UInt8] = []
    private var endsLine = false
    private var isAccepted = false
    private(set) var isFinished = false

    /// The maximum number of kept bytes; no relevant line is longer.
    private static let keptBytes = 8
    private static let begin = Array("BEGIN".utf8)

    init(sender: BusConnection.Side, maximum: Int) {
        self.sender = sender
        self.maximum = maximum
    }

    /// The minimum number of bytes that are still missing. Reading this many never reads past the
    /// end of the authentication.
    var wanted: Int {
        let lineEnd = endsLine ? 1 : 2
        switch sender {
        case .client:
            // A zero byte precedes the first line.
            if count == 0 { return 1 + Self.begin.count + 2 }
            if Self.begin.starts(with: line) { return Self.begin.count - line.count + lineEnd }
            return lineEnd + Self.begin.count + 2
        case .server: return isAccepted ? lineEnd : lineEnd + 2
        }
    }

    mutating func take(_ byte: UInt8) throws(BusEnd) {
        count += 1
        guard count <= maximum else { throw .violated("an authentication of more than \(maximum) bytes") }
        if count == 1, sender == .client {
            guard byte == 0 else { throw .malformed("its first byte is not zero") }
            return
        }
        if endsLine {
            guard byte == UInt8(ascii: "\n") else { throw .malformed("a line of its authentication does not end") }
            endLine()
        } else if byte == UInt8(ascii: "\r") {
            endsLine = true
        } else {
            guard byte >= 0x20, byte < 0x7F else { throw .malformed("its authentication is not text") }
            if line.count < Self.keptBytes { line.append(byte) }
        }
    }

    private mutating func endLine() {
        switch sender {
        case .client: isFinished = line == Self.begin
        case .server:
            isFinished = isAccepted
            isAccepted = isAccepted || line.starts(with: Array("OK".utf8))
        }
        line.removeAll(keepingCapacity: true)
        endsLine = false
    }
}
