// SPDX-License-Identifier: Apache-2.0

/// The names in a new project, derived from its bundle identifier.
struct ProjectNames {
    /// The bundle identifier, such as com.example.my-recipes.
    let identifier: String
    /// The folder, such as my-recipes.
    let folder: String
    /// The display name, such as My Recipes.
    let display: String
    /// The module name, such as MyRecipes; a valid identifier in every language.
    let module: String
    /// The path of EXTENSIONS.md.
    let guide: String
    /// The path of the program that makes the project.
    let program: String

    init(_ identifier: String, guide: String, program: String) {
        self.identifier = identifier
        self.guide = guide
        self.program = program
        let last = identifier.split(separator: ".").last.map(String.init) ?? identifier
        folder = last.drop { $0 == "-" }.isEmpty ? identifier : last
        let words = last.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        display = words.isEmpty ? identifier : words.joined(separator: " ")
        let joined = words.joined()
        // An identifier must start with a letter, and differ from the names of linked libraries.
        let isTaken = joined.first?.isNumber ?? true || Self.taken.contains(joined.lowercased())
        module = isTaken ? "Extension" + joined : joined
    }

    private static let taken: Set<String> = [
        "swift", "foundation", "corespotlight", "uniformtypeidentifiers", "glibc", "dispatch", "searchlight", "c",
        "quicklook",
        "mobilecoreservices", "quicklookui", "serviceprotocol", "searchlightextension",
        // Python keywords.
        "none", "true", "false",
    ]

    /// The file name of the library, such as libMyRecipes.so.
    var library: String { "lib\(module).so" }

    /// The values for the placeholders in templates.
    var values: [String: String] {
        ["identifier": identifier, "folder": folder, "display": display, "module": module, "guide": guide]
    }
}
