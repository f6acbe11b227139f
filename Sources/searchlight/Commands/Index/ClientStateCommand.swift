// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import JSONText
import SearchIndex
import SearchlightEngine

struct ClientStateCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "client-state",
        abstract: "Print the client state of an index, as of its last durable batch.",
        discussion: """
            Prints a state that is not text as base64; with --json, “text” is null then. First applies batches that \
            a crash left unapplied, unless the store is in use. Exit status 2 if there is no state.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: IndexChoice

    func perform() async throws {
        let state = try await options.withStore(.readJournaled) { store in
            try await store.perform(ClientStateCall(scope: choice.scope))
        }
        guard let state else {
            throw CommandFailure(
                message:
                    "There is no client state for \(choice.bundle)\(choice.index.map { ", index \($0)" } ?? "").",
                status: .notFound)
        }
        let text = String(validating: state, as: UTF8.self)
        let base64 = Data(state).base64EncodedString()
        if options.json {
            return try Output.printJSON(
                ["text": text.map(JSONValue.text) ?? .null, "base64": base64, "bytes": state.count] as JSONObject)
        }
        try Output.line("\(text ?? base64)")
    }
}
