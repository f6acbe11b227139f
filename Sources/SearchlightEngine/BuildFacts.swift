// SPDX-License-Identifier: Apache-2.0
import CBuildFacts
import ExtensionHost
import SearchIndex
import SearchlightExtension

/// Facts about the compiled programs: build settings, and the versions of the libraries in use.
package enum BuildFacts {
    /// Returns the output of `--version`. The first line contains the program and its version, for
    /// scripts; each further line contains one fact.
    package static func text(of program: String) -> String {
        var lines = ["\(program) \(Installation.version)", "build: \(configuration), \(compiler)"]
        if let commit { lines.append("commit: \(commit)") }
        lines.append("extension interface: \(SEARCHLIGHT_ABI_MAJOR).\(SEARCHLIGHT_ABI_MINOR)")
        lines.append("libraries: SQLite \(SearchIndex.sqliteVersion), libseccomp \(SeccompPrograms.libraryVersion)")
        return lines.joined(separator: "\n")
    }

    /// The commit that was built; `nil` if the build did not record one.
    static var commit: String? {
        let text = String(cString: searchlight_commit())
        return text.isEmpty ? nil : text
    }

    private static var configuration: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    /// The compiler version, as precisely as conditional compilation can determine it.
    private static var compiler: String {
        #if compiler(>=6.5)
            "Swift 6.5 or newer"
        #elseif compiler(>=6.4)
            "Swift 6.4"
        #elseif compiler(>=6.3.1)
            "Swift 6.3.1 or a later 6.3"
        #elseif compiler(>=6.3)
            "Swift 6.3"
        #else
            "Swift 6.2"
        #endif
    }
}
