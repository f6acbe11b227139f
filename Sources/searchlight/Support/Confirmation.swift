// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Glibc

/// The confirmation before something is permanently removed or replaced.
enum Confirmation {
    /// Asks the user, on a terminal.
    ///
    /// - Parameters:
    ///   - verb: “remove” or “replace”.
    ///   - what: The things to remove or replace, as a phrase.
    ///   - json: `true` if the output is JSON, for a program that cannot answer.
    /// - Throws: ``CommandFailure``: refused without a terminal or with `json`, cancelled if the
    ///   user says no.
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
