// SPDX-License-Identifier: Apache-2.0
import Foundation
import CommandSupport
import SearchIndex
import SearchlightEngine

/// The items for a command, from arguments, or from the lines of a file or standard input.
struct ItemNames {
    let names: [String]
    /// The source of the list, if it was read from one.
    let source: String?

    static let maximumItems = 10_000
    private static let maximumBytes = 16 << 20
    /// The maximum length of a line in messages, in characters.
    private static let shownLength = 60

    /// Reads the names.
    ///
    /// - Parameters:
    ///   - arguments: Names; `-` to read a list from standard input.
    ///   - file: A file with a list; `-` for standard input.
    init(_ arguments: [String], from file: String? = nil) throws(CommandFailure) {
        var names: [String] = []
        for argument in arguments { names += argument == "-" ? try Self.lines(of: nil) : [argument] }
        if let file { names += try Self.lines(of: file == "-" ? nil : file) }
        guard !names.isEmpty else {
            throw CommandFailure(
                message: "The list of items is empty. Put a number, an identifier or a path on each line.",
                status: .usage)
        }
        guard names.count <= Self.maximumItems else {
            throw CommandFailure(
                message: "\(names.count) items are too many; the limit is \(Self.maximumItems). Split the list.",
                status: .usage)
        }
        self.names = names
        source = arguments.contains("-") ? "standard input" : file.map { $0 == "-" ? "standard input" : $0 }
    }

    private static func lines(of path: String?) throws(CommandFailure) -> [String] {
        let data: Data?
        do {
            let handle = try path.map { try FileHandle(forReadingFrom: URL(filePath: $0)) } ?? .standardInput
            data = try handle.read(upToCount: maximumBytes + 1)
        } catch {
            throw CommandFailure(
                message: "Reading the items from \(path ?? "standard input") failed: \(systemReason(of: error)).",
                status: .inputOutput)
        }
        guard (data?.count ?? 0) <= maximumBytes else {
            throw CommandFailure(
                message: "The list of items is longer than \(maximumBytes) bytes. Split it.", status: .usage)
        }
        return String(decoding: data ?? Data(), as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// A name and its item, or an error.
    typealias Lookup = (name: String, result: Result<StoredItem, EngineError>)

    /// Finds all items.
    ///
    /// - Throws: The error for a single name. For a list without any existing item, throws one
    ///   error instead of many equal ones.
    func find(bundle: String?, index: String? = nil, in store: any EngineClient) async throws -> [Lookup] {
        let results = try await ItemChoice.find(names, bundle: bundle, index: index, in: store)
        let found: [Lookup] = zip(names, results).map { ($0, $1) }
        if names.count == 1, case .failure(let error)? = results.first { throw error }
        let isNothing = found.allSatisfy { if case .failure(.itemNotFound) = $0.result { true } else { false } }
        guard let source, isNothing else { return found }
        let first = names[0].count > Self.shownLength ? names[0].prefix(Self.shownLength) + "…" : names[0]
        throw CommandFailure(
            message: """
                None of the \(names.count) lines of \(source) is an item\(bundle.map { " of \($0)" } ?? ""); the first is \
                “\(first)”. Put a number (@12), an identifier or a path on each line; “search”, “query” and “list” \
                print such a list with --numbers.
                """, status: .notFound)
    }
}
