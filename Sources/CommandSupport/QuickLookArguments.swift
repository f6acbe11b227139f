// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The arguments of `searchlight quicklook`. The command checks them, and `searchlight-quicklook`
/// uses them.
package struct QuickLookArguments: ParsableArguments {
    /// The options for the store and the extensions.
    @OptionGroup package var options: GlobalOptions
    /// The words of the first search.
    @Argument(help: "The first search.")
    package var query: [String] = []
    /// The port to listen on.
    @Option(help: "Listen on this port, 0 to 65535; 0 picks a free port.")
    package var port: UInt16 = 0
    /// `true` to open no browser.
    @Flag(help: "Print the address of the file, and do not open a browser.")
    package var noOpen = false
    /// The time, in seconds, without a request after which the server exits.
    @Option(
        help: ArgumentHelp("Exit after this long without a request.", valueName: "seconds"))
    package var idleExit: Int?

    /// Creates the arguments, to be parsed.
    package init() {}

    /// Checks the values.
    package func validate() throws {
        guard (idleExit ?? 1) > 0 else { throw ValidationError("--idle-exit must be at least 1 second.") }
        guard query.joined(separator: " ").utf8.count <= 500 else {
            throw ValidationError("The query is longer than 500 bytes. Shorten it.")
        }
    }
}
