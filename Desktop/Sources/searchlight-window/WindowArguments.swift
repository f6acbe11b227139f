// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchlightEngine
import SystemSupport

/// The arguments of the program.
struct WindowArguments: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "searchlight-window",
        abstract: "Find, preview and drag items in a window.",
        discussion: """
            If a window is open, it comes to the front and searches for the text.

            Keys: arrows select a result, Enter opens it, the space bar shows its preview after an arrow key, Control-C copies \
            its path, address or title, Tab takes a suggestion, Escape clears the text and then closes the window, Control-F \
            selects the text, Control-Q ends the program.
            """,
        version: BuildFacts.text(of: "searchlight-window"))

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The first search.")
    var words: [String] = []
    @Option(name: .shortAndLong, help: ArgumentHelp("The first search, as one argument.", valueName: "text"))
    var search: String?
    @Option(
        help: ArgumentHelp(
            "Write a picture of the window to this PNG file, and end.", valueName: "file"),
        completion: .file())
    var screenshot: String?

    private static let maximumBytes = 4096

    func validate() throws {
        guard search == nil || words.isEmpty else {
            throw ValidationError("The search is given twice. Leave out --search or the words.")
        }
        guard (text ?? "").utf8.count <= Self.maximumBytes else {
            throw ValidationError("The search is longer than \(Self.maximumBytes) bytes. Shorten it.")
        }
    }

    /// The text of the first search.
    var text: String? { search ?? (words.isEmpty ? nil : words.joined(separator: " ")) }

    /// `true` for an index other than the user's, for other extensions, and for a picture, because
    /// an already open window does not show these.
    var needsOwnProcess: Bool {
        var usual = options.environment
        usual["SEARCHLIGHT_STORE"] = nil
        return screenshot != nil || options.location != StoreLocation(environment: usual)
            || options.explicitExtensionPath != nil || options.staysInProcess
    }
}
