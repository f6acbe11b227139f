// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings
import JSONText

extension ExtensionManifest {
    static let databaseKey = "Searchlight.Database"

    /// Returns the database under `Database` in the `Searchlight` dictionary, checked as far as
    /// possible without the file. Returns `nil` if the key is missing.
    ///
    /// - Throws: ``BundleProblem/invalidDatabase(key:column:problem:advice:)`` for the first error.
    static func database(in values: PropertyValue, _ root: [String: Any]) throws(BundleProblem) -> DatabaseBinding? {
        guard case .dictionary(let table) = values, case .dictionary(let own)? = table["Searchlight"],
            let value = own["Database"]
        else { return nil }
        let point = root["NSExtension"] as? [String: Any]
        if root["CFBundleExecutable"] != nil || point?["NSExtensionPrincipalClass"] != nil
            || own["SymbolBindings"] != nil
        {
            throw .invalidValue(
                key: databaseKey, value: "a dictionary",
                expected: """
                    no database beside CFBundleExecutable, NSExtensionPrincipalClass or SymbolBindings; make two bundles \
                    of it
                    """)
        }
        do throws(DatabaseBindingError) { return try DatabaseBinding(value.json) } catch {
            let question = error.misspelt.flatMap { SpellingSuggestions.sentence(to: $0.name, among: $0.known) }
            throw .invalidDatabase(
                key: error.key, column: error.column, problem: error.problem,
                advice: error.advice + "." + (question.map { " " + $0 } ?? ""))
        }
    }
}

extension DeclaredAccess {
    /// Checks that the database files can be read together with their logs, and watches them unless
    /// the manifest declares the watched paths.
    mutating func watch(_ database: DatabaseBinding, manifest root: [String: Any]) throws(BundleProblem) {
        var paths: [WatchedPath] = []
        for file in database.files {
            let isPlace = DeclaredPath(file).map { path in
                path.base.map { [.home, .config, .data, .cache, .state].contains($0) } ?? true
            }
            // The log (-wal) and the journal are next to the file, and appear and disappear.
            guard isPlace == true, let path = WatchedPath(file + "*", readablePaths, from: []) else {
                throw .invalidValue(
                    key: ExtensionManifest.databaseKey + ".Files", value: Self.shown(file),
                    expected: """
                        the path of a file whose folder ReadablePaths has, since its log lies beside it: absolute, or below ~/ \
                        or $XDG_CONFIG_HOME, $XDG_DATA_HOME, $XDG_CACHE_HOME, $XDG_STATE_HOME; the names after the readable \
                        path may have * in them
                        """)
            }
            paths.append(path)
        }
        guard (root["Searchlight"] as? [String: Any])?["WatchedPaths"] == nil else { return }
        watchedPaths = .some(paths)
    }
}

extension PropertyValue {
    /// The value as JSON, with dictionary keys in order. Dates and data, which no binding has,
    /// become null.
    fileprivate var json: JSONValue {
        switch self {
        case .dictionary(let values):
            .object(values.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: $0.value.json) })
        case .array(let values): .list(values.map(\.json))
        case .string(let text): .text(text)
        case .integer(let number): .integer(Int64(number))
        case .real(let number): .number(number)
        case .boolean(let truth): .bool(truth)
        case .date, .data: .null
        }
    }
}
