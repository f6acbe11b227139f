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
}

/// A project to be written.
struct Project {
    /// One of its files.
    struct File {
        var path: String
        var text: String
        /// In a few words.
        var purpose: String
    }
    var files: [File]
    /// The commands that come next.
    var steps: [String]
}

extension Project {
    /// What `make` does is the same for all languages but for how the bundle is built.
    ///
    /// - Parameter build: The lines that put what belongs into the bundle besides its Info.plist, as a recipe.
    static func makefile(_ names: ProjectNames, needs: String, build: String) -> File {
        File(
            path: "Makefile",
            text: """
                # make             builds the bundle, build/\(names.identifier).searchext
                # make validate    has it judged
                # make install     puts it where searchlight finds it
                ID := \(names.identifier)
                BUNDLE := build/$(ID).searchext
                DATA := $(or $(XDG_DATA_HOME),$(HOME)/.local/share)
                FOLDER := $(DATA)/searchlight/extensions
                SEARCHLIGHT ?= searchlight

                .PHONY: all validate install uninstall clean
                all: $(BUNDLE)/Info.plist

                $(BUNDLE)/Info.plist: Info.plist \(needs)
                \tmkdir -p $(BUNDLE)
                \(build)
                \tcp Info.plist $@

                validate: all
                \t$(SEARCHLIGHT) extensions validate $(BUNDLE)

                # Under another name first, so that nobody finds half of it.
                install: all
                \tmkdir -p $(FOLDER)
                \trm -rf $(FOLDER)/.$(ID).new
                \tcp -R $(BUNDLE) $(FOLDER)/.$(ID).new
                \trm -rf $(FOLDER)/$(ID).searchext
                \tmv $(FOLDER)/.$(ID).new $(FOLDER)/$(ID).searchext

                uninstall:
                \trm -rf $(FOLDER)/$(ID).searchext

                clean:
                \trm -rf build

                """,
            purpose: "builds, validates and installs it")
    }

    static func readme(_ names: ProjectNames, _ text: String) -> File {
        File(
            path: "README.md",
            text: """
                # \(names.display)

                \(text)

                    make             # builds build/\(names.identifier).searchext
                    make validate    # has it judged, each check in a process of its own
                    make install     # puts it where searchlight finds it

                Then `searchlight reindex \(names.identifier)` and `searchlight search …` show what it donates. What it prints to
                standard error is shown by `searchlight reindex \(names.identifier) --verbose`. It can read no files but its own
                and the system's; what else it needs, the Info.plist has to declare:

                    <key>Searchlight</key>
                    <dict>
                        <key>ReadablePaths</key>
                        <array><string>~/Recipes</string></array>
                    </dict>

                `\(names.guide)` says what you may rely on and what is expected of you.

                """,
            purpose: "the three commands")
    }

    static func manifest(_ names: ProjectNames, library: String? = nil, more: String = "", point: String) -> File {
        let executable = library.map {
            "    <key>CFBundleExecutable</key>\n    <string>\($0)</string>\n"
        }
        return File(
            path: "Info.plist",
            text: """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0">
                <dict>
                    <key>CFBundleIdentifier</key>
                    <string>\(names.identifier)</string>
                    <key>CFBundleDisplayName</key>
                    <string>\(names.display)</string>
                    <key>CFBundleVersion</key>
                    <string>1</string>
                \(executable ?? "")    <key>NSExtension</key>
                    <dict>
                \(point)
                    </dict>
                \(more)</dict>
                </plist>

                """,
            purpose: "what it is, and what it may use")
    }

    /// The extension point of an extension that donates, for one without a principal class.
    static let indexPoint = """
                <key>NSExtensionPointIdentifier</key>
                <string>com.apple.spotlight.index</string>
        """
}
