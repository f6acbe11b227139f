// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Glibc

/// The question before something is removed for good.
enum Confirmation {
    /// Asks the user, on a terminal.
    ///
    /// - Parameters:
    ///   - what: What would be removed.
    ///   - json: Whether the output is for a program, which cannot be asked.
    /// - Throws: ``CommandFailure``: refused if nobody can be asked, cancelled if the user says no.
    static func ask(toRemove what: String, json: Bool) throws {
        guard isatty(STDIN_FILENO) == 1, !json else {
            throw CommandFailure(
                message: "This would remove \(what). Say --yes, since nobody can be asked.", status: .refused)
        }
        Output.complain("Remove \(what)? [y/N]")
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandFailure(message: "Nothing was removed.", status: .cancelled)
        }
    }
}
