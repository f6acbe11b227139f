// SPDX-License-Identifier: Apache-2.0

/// A trace that comes with this program, as text, so that it needs no files beside it.
public struct ShippedTrace: Hashable, Sendable {
    /// What it is called on the command line.
    public let name: String
    /// What it shows, in a sentence; its header says the same.
    public let summary: String
    private let day: String
    private let lines: String

    init(name: String, summary: String, day: String = "2026-03-02", lines: String) {
        (self.name, self.summary, self.day, self.lines) = (name, summary, day, lines)
    }

    /// The file.
    public var jsonLines: String {
        """
        {"trace": 1, "name": "\(name)", "description": "\(summary)", "date": "\(day)", "zone": "+01:00"}
        \(lines)

        """
    }

    /// The trace.
    public func trace() throws(TraceError) -> Trace { try Trace(jsonLines: Array(jsonLines.utf8)) }

    /// All of them.
    public static let all: [ShippedTrace] = [officeDay, onBattery, buildServer, neverIdle, resume]

    /// The one of a name.
    public init?(name: String) {
        guard let trace = Self.all.first(where: { $0.name == name }) else { return nil }
        self = trace
    }

    /// A machine that is idle, on mains, with nothing known against any work.
    static let idle = """
        "locked": false, "power": "mains", "percent": 100, "saving": false, "load": 0.03, "cpu-pressure": 0, \
        "io-pressure": 0, "memory-pressure": 0, "hot": false, "free-disk": 200000000000
        """
}
