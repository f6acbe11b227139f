// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ArgumentParser
import AssistantServer
import CommandSupport
import Foundation
import Glibc
import SearchlightEngine

struct MCPCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Answer a local assistant over the Model Context Protocol, on standard input and output.",
        discussion: """
            An assistant starts this command; it is configured as a server with the command “searchlight mcp”. The assistant can \
            search, read items and list apps, as far as you grant it: searchlight access. It can change nothing. Everything that \
            it reads is in a log that you can see and clear: searchlight access log. Answers stay on this machine, unless the \
            assistant sends them elsewhere.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Let assistants open items in their apps.")
    var allowOpen = false

    func validate() throws {
        guard !options.json else { throw ValidationError("“searchlight mcp” always prints JSON. Leave --json out.") }
    }

    func perform() async throws {
        var input = try InputLines(path: "-", limit: AssistantSession.maximumLineBytes)
        var session = AssistantSession(folder: options.storeDirectory, version: Installation.version)
        var isOver = false
        while !isOver {
            do {
                (session, input, isOver) = try await options.withLastingStore { [session, input] store in
                    var (session, input) = (session, input)
                    session.use(store, open: allowOpen ? open(in: store) : nil)
                    while try await answer(&session, &input) {}
                    return (session, input, true)
                }
            } catch EngineError.index(.noStore) {
                // The first donation may create the index before the next message arrives.
                isOver = try await !answer(&session, &input)
            }
        }
    }

    private func open(in store: any EngineClient) -> @Sendable (Int64) async throws -> String {
        { [environment = options.environment] number in
            let target = try await store.perform(LaunchTargetCall(item: number))
            let opener = ItemOpener(environment: environment, activities: ClientActivities(store))
            return try await opener.open(target).plan.app
        }
    }

    /// Answers the next message. Returns `false` at the end of the input.
    private func answer(_ session: inout AssistantSession, _ input: inout InputLines) async throws -> Bool {
        guard let (line, isTooLong) = try await input.next() else { return false }
        if isTooLong {
            try Self.send(AssistantSession.tooLong)
        } else if !line.isEmpty, let answer = await session.answer(to: line) {
            try Self.send(answer)
        }
        return true
    }

    /// Writes a line immediately.
    private static func send(_ line: String) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
        } catch {
            throw CommandFailure(message: "The assistant reads no more answers.", status: .closedPipe)
        }
    }
}
