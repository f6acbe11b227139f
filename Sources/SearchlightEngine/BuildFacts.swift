// SPDX-License-Identifier: Apache-2.0
import CBuildFacts
import ExtensionHost
import SearchIndex
import SearchlightExtension

/// What is known of these programs: from when they were compiled, and of the libraries that they run with.
package enum BuildFacts {
    /// What `--version` prints: the program and its version in the first line, for scripts, and a fact in each that follows.
    package static func text(of program: String) -> String {
        var lines = ["\(program) \(Installation.version)", "build: \(configuration), \(compiler)"]
        if let commit { lines.append("commit: \(commit)") }
        lines.append("extension interface: \(SEARCHLIGHT_ABI_MAJOR).\(SEARCHLIGHT_ABI_MINOR)")
        lines.append("libraries: SQLite \(SearchIndex.sqliteVersion), libseccomp \(SeccompPrograms.libraryVersion)")
        return lines.joined(separator: "\n")
    }

    /// The commit that was built, if whoever built it said so.
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

    /// As far as source can ask.
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
