// SPDX-License-Identifier: Apache-2.0

/// A record of the things that an app showed, so that it shows the last one when it is opened
/// again. An app that the bus started has no terminal, so this record is also what its user sees.
public struct ShownLines: Sendable {
    private static let limit = 100
    private let file: JSONFile<[String]>

    /// Creates the record of an app.
    public init(of bundle: String) { file = JSONFile("shown.json", of: bundle, empty: []) }

    /// The last lines.
    public func all() throws -> [String] { try file.read() }

    /// Adds a line.
    public func add(_ line: String) throws {
        try file.change { lines in lines = Array((lines + [line]).suffix(Self.limit)) }
    }
}
