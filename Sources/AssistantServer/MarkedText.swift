// SPDX-License-Identifier: Apache-2.0

/// A text for an assistant in which everything from items is between markers. The markers contain a
/// random name, so that no item can contain the end marker.
struct MarkedText {
    private let mark: String
    private var parts: [String] = []

    init(using random: inout some RandomNumberGenerator) {
        mark = String(UInt64.random(in: 0...UInt64.max, using: &random), radix: 36)
    }

    init() {
        var random = SystemRandomNumberGenerator()
        self.init(using: &random)
    }

    /// Adds a line and its text.
    mutating func add(_ line: String, _ text: String?) {
        parts.append("<data \(mark)>\n\(line)\(text.map { "\n" + $0 } ?? "")\n</data \(mark)>")
    }

    /// Returns the whole text.
    ///
    /// - Parameter introduction: A line outside the markers.
    func whole(_ introduction: String) -> String {
        ([introduction, AssistantSession.warning] + parts).joined(separator: "\n")
    }
}
