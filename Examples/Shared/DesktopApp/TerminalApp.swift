// SPDX-License-Identifier: Apache-2.0
import ExampleSupport
import Foundation

/// An app with commands: `app COMMAND …` executes one and ends. `app` alone stays open, reads
/// commands from its input and continues activities, as a window would.
public protocol TerminalApp: Sendable {
    /// The identifier of the app: of its bundle, its desktop entry and its name on the bus.
    static var identifier: String { get }

    /// The options of commands that have no value.
    static var switches: Set<String> { get }

    /// Executes a command.
    func execute(_ words: CommandWords) async throws

    /// Prepares an app that stays open. Register the handlers of activities here.
    func open()
}

extension TerminalApp {
    /// Runs the app with the arguments of the process. Returns the exit status.
    public func main() async -> Int32 {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let isService = arguments.first == DesktopApplication.serviceArgument
        if isService || arguments.isEmpty { return stayOpen(isService: isService) }
        return await execute(arguments) ? 0 : 1
    }

    private func execute(_ arguments: [String]) async -> Bool {
        do {
            try await execute(CommandWords(arguments, switches: Self.switches))
            return true
        } catch {
            show("Error: \((error as? any LocalizedError)?.errorDescription ?? "\(error)")")
            return false
        }
    }

    private func stayOpen(isService: Bool) -> Int32 {
        guard let application = DesktopApplication(Self.identifier, isService: isService) else { return 70 }
        if !application.isRemote {
            open()
            if !isService { readCommands() }
        }
        return application.run()
    }

    private func readCommands() {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        // Reading blocks, so it has a thread of its own.
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        Task.detached {
            show("ready")
            for await line in lines { _ = await execute(line.split(separator: " ").map(String.init)) }
            DesktopApplication.quit()
        }
    }
}

/// Prints a line at once, also into a pipe.
public func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// A message for the user of a command.
public struct CommandError: LocalizedError {
    /// The message.
    public let errorDescription: String?

    /// Creates the error of a message.
    public init(_ message: String) { errorDescription = message }
}
