// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Glibc

/// Asks for confirmation before something is permanently removed or replaced.
enum Confirmation {
    /// Asks the user at a terminal.
    ///
    /// - Parameters:
    ///   - verb: “remove” or “replace”.
    ///   - what: The removed or replaced thing as a phrase, such as “3 items”.
    ///   - json: `true` if the output is JSON, for a program, which cannot answer.
    /// - Throws: ``CommandFailure``: refused if there is no terminal or `json` is set, cancelled if
    ///   the user answers no.
    static func ask(_ verb: String, _ what: String, json: Bool) throws {
        guard isatty(STDIN_FILENO) == 1, !json else {
            throw CommandFailure(
                message: """
                    This would \(verb) \(what). Cannot prompt: standard input is not a terminal, or --json is given. \
                    Pass --yes.
                    """, status: .refused)
        }
        Output.complain("\(verb.prefix(1).uppercased() + verb.dropFirst()) \(what)? [y/N]")
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandFailure(message: "Nothing was \(verb)d.", status: .cancelled)
        }
    }
}
