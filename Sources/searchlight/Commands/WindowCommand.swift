// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchlightEngine

/// Checks its arguments and replaces the process with `searchlight-window`, or with the page server
/// if the window is not installed. This way, no command links GTK.
struct WindowCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "window",
        abstract: "Search, preview and drag items in a window.",
        discussion: """
            If a window is open, it comes to the front and searches for the words. The window is a separate package \
            (searchlight-window). If the package is not installed, the page of “searchlight quicklook” is shown \
            instead.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The first search.")
    var words: [String] = []

    /// The number of seconds without a request after which the page server exits.
    private static let pageIdleSeconds = 900

    func validate() throws {
        if let problem = SearchText.lengthProblem(of: words.joined(separator: " ")) { throw ValidationError(problem) }
    }

    func perform() async throws {
        let installation = Installation(environment: options.environment)
        // The arguments that follow “searchlight window”, unchanged.
        let words = CommandLine.arguments.dropFirst(2)
        let (program, arguments): (String, [String])
        if let window = installation.windowPath {
            (program, arguments) = (window, [window] + words)
        } else {
            program = installation.quickLookPath
            arguments = [program, "--idle-exit", "\(Self.pageIdleSeconds)"] + words
        }
        let reason = CommandProgram.replace(with: program, arguments: arguments)
        throw CommandFailure(
            message: "The window cannot be shown: starting \(program) failed: \(reason). Install Searchlight again.",
            status: .failure)
    }
}
