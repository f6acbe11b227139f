// SPDX-License-Identifier: Apache-2.0
import SymbolBindings
import UniformTypeIdentifiers

extension ExtensionManifest {
    private static let bindingsKey = "Searchlight.SymbolBindings"

    /// Returns the bindings under `SymbolBindings` in the `Searchlight` dictionary, after the same
    /// checks that the worker makes. Returns an empty array if the key is missing.
    ///
    /// - Throws: ``BundleProblem/invalidBinding(number:line:column:problem:advice:)`` for the first
    ///   invalid binding.
    static func bindings(in root: [String: Any]) throws(BundleProblem) -> [String] {
        guard let value = (root["Searchlight"] as? [String: Any])?["SymbolBindings"] else { return [] }
        guard let texts = value as? [String], !texts.isEmpty, texts.count <= BindingLimits.bindings else {
            throw .invalidValue(
                key: bindingsKey, value: String("\(value)".prefix(100)),
                expected: "an array of 1 to \(BindingLimits.bindings) texts, each a binding")
        }
        let point = root["NSExtension"] as? [String: Any]
        if root["CFBundleExecutable"] != nil || point?["NSExtensionPrincipalClass"] != nil {
            throw .invalidValue(
                key: bindingsKey, value: "\(texts.count) bindings",
                expected:
                    "none together with CFBundleExecutable or NSExtensionPrincipalClass; split the bundle into two")
        }
        for (index, text) in texts.enumerated() {
            do throws(BindingError) { _ = try SymbolBinding(parsing: text) } catch {
                throw .invalidBinding(
                    number: index + 1, line: error.line, column: error.column, problem: error.problem,
                    advice: error.advice)
            }
        }
        return texts
    }

    /// One line for each binding, with its purpose and the functions that it calls, or one line for
    /// each kind of item, with its database.
    public var bindingLines: [String] {
        let lines = database?.items.map { "\($0.name): rows of \(database?.files.joined(separator: ", ") ?? "")" } ?? []
        return lines
            + bindings.compactMap { text in
                guard let binding = try? SymbolBinding(parsing: text) else { return nil }
                return
                    "\(binding.purpose): \(binding.allCalls.map(\.symbol).joined(separator: ", ")) of \(binding.libraries.joined(separator: " or "))"
            }
    }

    /// The type identifiers by filename extension in lower case, from the current snapshot of the
    /// type registry. Empty if no binding calls `type( )`.
    var bindingTypes: [String: String] {
        guard bindings.contains(where: { (try? SymbolBinding(parsing: $0))?.usesTypes == true }) else { return [:] }
        var types: [String: String] = [:]
        for type in UTTypeRegistry.shared.snapshot.declaredTypes {
            for tag in type.tags[.filenameExtension] ?? [] where types[tag.lowercased()] == nil {
                guard let best = UTType(filenameExtension: tag), !best.isDynamic else { continue }
                types[tag.lowercased()] = best.identifier
            }
        }
        return types
    }

    /// The library files in the bundle that its bindings call.
    var boundLibraries: Set<String> {
        var names: Set<String> = []
        for text in bindings {
            guard let binding = try? SymbolBinding(parsing: text) else { continue }
            for name in binding.libraries where name.hasPrefix("./") { names.insert(String(name.dropFirst(2))) }
        }
        return names
    }
}
