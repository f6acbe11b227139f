// SPDX-License-Identifier: Apache-2.0
import ExtensionHost

/// Words that users try instead of the name of a command, or of a subcommand of a group.
enum CommandSynonyms {
    private static let commands = [
        "find": "search", "lookup": "search", "index": "reindex", "scan": "reindex", "explain": "why",
        "protect": "unlock", "encrypt": "unlock", "decrypt": "unlock", "uninstall": "forget", "start": "setup",
        "stop": "service stop", "info": "status", "similarity": "similar", "gui": "window",
    ]
    private static let subcommands = [
        "extensions": [
            "test": "validate", "check": "validate", "verify": "validate", "debug": "validate --in-process",
            "create": "new", "init": "new", "generate": "new", "show": "info", "describe": "info", "path": "where",
        ]
    ]

    /// Returns a question for a word that is no command, such as “Did you mean validate?”.
    ///
    /// - Parameters:
    ///   - group: The name of the command whose subcommands are `names`; `nil` for the program.
    static func question(for word: String, in group: String?, among names: [String]) -> String? {
        let known = group.map { subcommands[$0] ?? [:] } ?? commands
        if let command = known[word.lowercased()] { return "Did you mean \(command)?" }
        return SpellingSuggestions.sentence(to: word, among: names)
    }
}
