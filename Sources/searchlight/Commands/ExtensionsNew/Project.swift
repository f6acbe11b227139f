// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings
import JSONText

/// A new project, whose files are generated from `Templates/`.
struct Project {
    struct File {
        var path: String
        var text: String
        /// A short description.
        var purpose: String
    }
    var files: [File] = []
    /// The commands to run next.
    var steps: [String]
    /// Findings about the database.
    var notes: [String] = []

    init(_ names: ProjectNames, steps: [String]) {
        self.names = names
        self.steps = steps
    }

    private let names: ProjectNames

    /// Adds a file generated from a template, in which `{{…}}` is a placeholder for a name or
    /// another value.
    mutating func add(
        _ path: String, _ purpose: String, _ template: [UInt8], _ values: [String: String] = [:]
    ) {
        let values = names.values.merging(values) { $1 }
        let pieces = String(decoding: template, as: UTF8.self).split(separator: "{{", omittingEmptySubsequences: false)
        let text = pieces.dropFirst().reduce(into: pieces.first.map(String.init) ?? "") { text, piece in
            let parts = piece.split(separator: "}}", maxSplits: 1, omittingEmptySubsequences: false)
            text += (values[String(parts[0])] ?? "") + (parts.count > 1 ? parts[1] : "")
        }
        files.append(File(path: path, text: text, purpose: purpose))
    }

    mutating func addManifest(library: String? = nil, principalClass: String? = nil, more: String = "") {
        let executable = library.map { "    <key>CFBundleExecutable</key>\n    <string>\($0)</string>\n" } ?? ""
        let principal = principalClass.map {
            "\n        <key>NSExtensionPrincipalClass</key>\n        <string>\($0)</string>"
        }
        add(
            "Info.plist", "its identity and its permissions", PackageResources.info_plist_template,
            ["executable": executable, "principalClass": principal ?? "", "more": more])
    }

    /// Adds the Makefile. It is the same for all languages, except for the recipe that builds the
    /// bundle.
    ///
    /// - Parameters:
    ///   - build: The recipe lines that add the files of the bundle other than its Info.plist.
    ///   - word: The word for which “make run” searches; empty to list all items.
    mutating func addMakefile(needs: String, variables: String = "", build: String, word: String = "pudding") {
        // Quoted for the shell, and for make.
        func quoted(_ path: String) -> String {
            "'\(path.replacing("'", with: "'\\''"))'".replacing("$", with: "$$")
        }
        let made = quoted(names.program).replacing("#", with: "\\#")
        add(
            "Makefile", "builds, tries, validates and installs it", PackageResources.makefile_template,
            [
                "needs": needs, "variables": variables, "build": build, "program": made, "word": word,
                "guide": quoted(names.guide),
            ])
    }

    /// Adds the Makefile for a project built with a C or C++ compiler.
    ///
    /// - Parameters:
    ///   - searchlight: The path of Searchlight's source; `nil` if the headers are installed.
    ///   - folders: The folders in that source that contain the headers.
    ///   - sources: The patterns of the files that the library is built from.
    ///   - units: The pattern for the files to compile.
    ///   - compiler: The variable that names the compiler.
    ///   - candidates: The names of compilers, in order of preference.
    private mutating func addNativeMakefile(
        _ searchlight: String?, folders: [String], sources: String, units: String, compiler: String,
        _ candidates: String, options: String, libraries: String
    ) {
        addMakefile(
            needs: sources.split(separator: " ").map { "$(wildcard \($0))" }.joined(separator: " "),
            variables: """
                \(compiler) = $(or $(firstword $(shell command -v \(candidates))),\
                $(error There is no compiler. Install one, such as gcc, or name it: make \(compiler)=…))
                \(Self.headerVariables(searchlight, folders: folders))
                \(Self.packageVariables)

                """,
            build: """
                \t$(\(compiler)) -O2 -g -Wall -Wextra \(options) -shared -fPIC $(HEADERS) $(PACKAGE_CFLAGS) \
                $(wildcard \(units)) -o $(BUNDLE)/\(names.library)\(libraries) $(PACKAGE_LIBS)
                """)
    }

    /// Returns the Makefile variables that locate the headers; the parameters are the same as for
    /// ``addNativeMakefile``.
    static func headerVariables(_ searchlight: String?, folders: [String]) -> String {
        let headers = searchlight.map { source in
            let source = source.replacingOccurrences(of: "$", with: "$$")
            return folders.map { "\(source)/Sources/SearchlightExtension/\($0)" }.joined(separator: ":")
        }
        return """
            # The folders of Searchlight's headers, separated by colons; empty for the installed headers.
            SEARCHLIGHT_HEADERS ?= \(headers ?? "")
            HEADERS := $(if $(SEARCHLIGHT_HEADERS),-I"$(subst :," -I",$(SEARCHLIGHT_HEADERS))",$(shell pkg-config --cflags searchlight-extension))
            """
    }

    /// The variables of a Makefile that link further libraries.
    static let packageVariables = """
        # Libraries to link, by their names for pkg-config, such as: PACKAGES := zlib libxml-2.0
        PACKAGES :=
        PACKAGE_CFLAGS = $(if $(PACKAGES),$(shell pkg-config --cflags $(PACKAGES)))
        PACKAGE_LIBS = $(if $(PACKAGES),$(shell pkg-config --libs $(PACKAGES)))
        """

    mutating func addReadme(_ about: String) {
        // The steps before “make” create what the sample reads.
        let first = steps.prefix { !$0.hasPrefix("make") }.map { "    \($0)\n" }.joined()
        add("README.md", "the commands", PackageResources.readme_template, ["about": about, "first": first])
    }
}

extension Project {
    /// Returns a package with a request handler, as on Apple's systems.
    ///
    /// - Parameters:
    ///   - library: The compiled library that the package links; `nil` to depend on the source.
    ///   - searchlight: The path of Searchlight's source, for a package without that library.
    static func swift(_ names: ProjectNames, library: CompiledLibrary?, searchlight: String) -> Project {
        var steps = [firstRecipe] + simpleSteps(names)
        if library == nil { steps[1] = "make             (first compiles CoreSpotlight, for some minutes)" }
        var project = Project(names, steps: steps)
        if let library {
            project.add(
                "Package.swift", "the build; links \(library.folder)/libCoreSpotlight.so",
                PackageResources.package_compiled_swift_template,
                [
                    "library": swiftText(library.folder),
                    "arguments": library.arguments.map { "    \"\(swiftText($0))\"," }.joined(separator: "\n"),
                ])
        } else {
            project.add(
                "Package.swift", "the build; depends on Searchlight's source",
                PackageResources.package_swift_template,
                [
                    "package": swiftText(searchlight.split(separator: "/").last.map(String.init) ?? "searchlight"),
                    "searchlight": swiftText(searchlight),
                ])
        }
        project.add(
            "Sources/\(names.module)/IndexRequestHandler.swift", "the extension",
            PackageResources.handler_swift_template)
        project.addManifest(
            library: names.library, principalClass: names.module + ".IndexRequestHandler", more: recipeFolder)
        project.addMakefile(
            needs: "Package.swift $(wildcard Sources/*/*.swift)",
            build: """
                \tswift build -c release --product \(names.module)
                \tcp .build/release/\(names.library) $(BUNDLE)
                """)
        project.addReadme(
            """
            An extension of Searchlight in Swift, written against CoreSpotlight as for Apple's systems. The package
            \(library.map { "links the compiled library in `\($0.folder)`" } ?? "depends on Searchlight's source at `\(searchlight)`"); \
            see Package.swift.
            """)
        return project
    }

    /// Escapes a text for a literal of Swift.
    private static func swiftText(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    /// Returns a project with one C source file.
    ///
    /// - Parameter searchlight: The path of Searchlight's source, for the header; `nil` if the
    ///   header is installed.
    static func c(_ names: ProjectNames, searchlight: String?) -> Project {
        var project = Project(names, steps: [firstRecipe] + simpleSteps(names))
        project.add("\(names.module).c", "the extension", PackageResources.extension_c_template)
        project.addManifest(library: names.library, more: recipeFolder)
        project.addNativeMakefile(
            searchlight, folders: ["include"], sources: "*.c *.h", units: "*.c", compiler: "CC", "cc clang gcc",
            options: "-std=c11 -Wno-unused-parameter", libraries: " -lm")
        project.addReadme(
            """
            An extension of Searchlight in C. `searchlight_extension.h` is the whole contract; nothing is linked. The
            Makefile names its folder; for another: `make SEARCHLIGHT_HEADERS=…/Sources/SearchlightExtension/include`.
            """)
        return project
    }

    /// Returns a project with one C++ source file.
    ///
    /// - Parameter searchlight: The path of Searchlight's source, for the headers; `nil` if the
    ///   headers are installed.
    static func cPlusPlus(_ names: ProjectNames, searchlight: String?) -> Project {
        var project = Project(names, steps: [firstRecipe] + simpleSteps(names))
        project.add("\(names.module).cpp", "the extension", PackageResources.extension_cpp_template)
        project.addManifest(library: names.library, more: recipeFolder)
        project.addNativeMakefile(
            searchlight, folders: ["include", "cplusplus"], sources: "*.cpp *.hpp *.h", units: "*.cpp", compiler: "CXX",
            "c++ g++ clang++", options: "-std=c++20 -fvisibility=hidden", libraries: "")
        project.addReadme(
            """
            An extension of Searchlight in C++20. `searchlight_extension.hpp` wraps the C interface, and nothing but the C++
            standard library is linked. The Makefile names the folders of both headers in SEARCHLIGHT_HEADERS.
            """)
        return project
    }

    /// Returns a project that consists of a manifest, which binds a function of a system library.
    static func bindings(_ names: ProjectNames) -> Project {
        var project = Project(names, steps: [firstDocument] + simpleSteps(names))
        project.addManifest(more: String(decoding: PackageResources.bindings_plist_template, as: UTF8.self))
        project.addMakefile(needs: "", build: "\t@:", word: "")
        project.addReadme(
            """
            An extension of Searchlight without code: its Info.plist names the functions of a system library to call,
            here `cmark_markdown_to_html` of cmark-gfm (on Debian: `apt install libcmark-gfm0.29.0.gfm.6`).
            """)
        return project
    }

    /// Returns a project that consists of a manifest, which reads an app's database.
    ///
    /// - Parameters:
    ///   - proposal: The proposed dictionary.
    ///   - file: The path of the database, as used in the manifest.
    static func database(_ names: ProjectNames, _ proposal: ManifestProposal, file: String) -> Project {
        var project = Project(names, steps: simpleSteps(names))
        project.notes = proposal.notes
        let folder = file.split(separator: "/").dropLast().joined(separator: "/")
        let own = JSONValue.object([
            .init(key: "ReadablePaths", value: .list([.text(file.hasPrefix("/") ? "/" + folder : folder)])),
            .init(key: "Database", value: proposal.value),
        ])
        project.addManifest(more: "    <key>Searchlight</key>\n" + own.propertyList(indented: 1))
        project.addMakefile(needs: "", build: "\t@:", word: "")
        project.addReadme(
            """
            An extension of Searchlight without code: its Info.plist has the SELECTs that make items of the rows of
            `\(file)`. docs/DATABASES.md of Searchlight explains each key. The SELECTs are a proposal from the tables of
            this one file. Look at them, and name what you want to find.
            """)
        return project
    }

    /// The sample data of the project with bindings.
    static let firstDocument = "mkdir -p ~/Documents && echo '# Rice pudding' >~/Documents/'Rice pudding.md'"
    /// The sample data that extensions with code donate.
    static let firstRecipe = "mkdir -p ~/Recipes && echo 'rice, milk, cinnamon' >~/Recipes/'Rice pudding.txt'"
    static let recipeFolder = """
            <key>Searchlight</key>
            <dict>
                <!-- The source of the items, and the only readable folder. -->
                <key>ReadablePaths</key>
                <array>
                    <string>~/Recipes</string>
                </array>
                <!-- Searchlight reports changes in this folder to the extension. -->
                <key>WatchedPaths</key>
                <true/>
            </dict>

        """

    static func simpleSteps(_ names: ProjectNames) -> [String] {
        ["make", "make run", "make validate", "make install && searchlight reindex \(names.identifier)"]
    }
}
