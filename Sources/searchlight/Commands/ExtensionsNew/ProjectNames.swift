// SPDX-License-Identifier: Apache-2.0

/// The names in a new project, derived from the identifier of its bundle.
struct ProjectNames {
    /// com.example.my-recipes
    let identifier: String
    /// my-recipes
    let folder: String
    /// My Recipes
    let display: String
    /// MyRecipes: a name in any language.
    let module: String
    /// Where EXTENSIONS.md is.
    let guide: String

    init(_ identifier: String, guide: String) {
        self.identifier = identifier
        self.guide = guide
        let last = identifier.split(separator: ".").last.map(String.init) ?? identifier
        folder = last.drop { $0 == "-" }.isEmpty ? identifier : last
        let words = last.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        display = words.isEmpty ? identifier : words.joined(separator: " ")
        let joined = words.joined()
        // A name begins with a letter, and is not that of a library it is linked with.
        let isTaken = joined.first?.isNumber ?? true || Self.taken.contains(joined.lowercased())
        module = isTaken ? "Extension" + joined : joined
    }

    private static let taken: Set<String> = [
        "swift", "foundation", "corespotlight", "uniformtypeidentifiers", "glibc", "dispatch", "searchlight", "c",
        "quicklook",
        "mobilecoreservices", "quicklookui", "serviceprotocol", "searchlightextension",
    ]

    /// libMyRecipes.so
    var library: String { "lib\(module).so" }

    /// What stands for the names in the templates.
    var values: [String: String] {
        ["identifier": identifier, "folder": folder, "display": display, "module": module, "guide": guide]
    }
}
