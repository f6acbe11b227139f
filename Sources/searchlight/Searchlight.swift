// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import SearchlightEngine
import Glibc

/// The root command.
struct Searchlight: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "searchlight",
        abstract: "Find, preview and drag items from your apps.",
        discussion: """
            Apps ship extensions: bundles (NAME.searchext) in an extensions folder. “searchlight reindex” makes them \
            donate their items to a private index; the other commands use this index.

            A command uses the service of the store if one runs, and opens the store itself otherwise. The output is the \
            same.

            ITEM is an item number that “search” prints (@12), a unique identifier, or the path of a file.

            Exit status: 0 done, 1 failed, 2 not found, 3 no such representation, 4 refused, 5 cancelled, \
            6 timed out, 7 an extension crashed, 8 reading or writing failed (also the index, when it is damaged), \
            9 the store is in use, 10 a check found damage, 11 an extension failed a check, 12 a recording is incomplete, \
            64 wrong usage, 71 a limit of the system is \
            too small to start, 128+N ended by signal N (130 by Control-C, 141 if the reader of standard output has gone, as “head” does). With \
            --json a failure is an object with “error” and “status”, except wrong usage.
            """,
        version: BuildFacts.text(of: "searchlight"),
        subcommands: [
            SearchCommand.self, SimilarCommand.self, SuggestCommand.self, ShowCommand.self, PreviewCommand.self,
            OpenCommand.self,
            ContinueCommand.self,
            QuickLookCommand.self, WindowCommand.self,
            DragCommand.self,
            UpdateCommand.self, ReindexCommand.self,
            ExtensionsCommand.self, StatusCommand.self, UnlockCommand.self, LockCommand.self,
            KeysCommand.self, VerifyCommand.self,
            ForgetCommand.self, HistoryCommand.self,
            DesktopCommand.self, SemanticCommand.self,
            TypesCommand.self,
            QueryCommand.self, ReceiversCommand.self,
            ListCommand.self, WhyNotCommand.self, WhyCommand.self, LogCommand.self, ScheduleCommand.self,
            ThrottleCommand.self,
            InhibitCommand.self, SimulateCommand.self, RecordCommand.self,
            DonateCommand.self, DeleteCommand.self, ClientStateCommand.self,
            MCPCommand.self, AccessCommand.self,
            ServiceCommand.self, SetupCommand.self, DoctorCommand.self,
        ])
}

/// The entry point of the program.
@main
enum Program {
    static func main() async {
        CommandProgram.useOnePool()
        Signals.prepare()
        // Checked first, because the parser would show the help for the nearest existing command
        // instead of an error.
        if let problem = wrongHelp(Array(CommandLine.arguments.dropFirst())) {
            Output.complain("Error: \(problem)")
            Output.complain("  See 'searchlight --help' for more information.")
            exit(ExitStatus.usage.rawValue)
        }
        await CommandProgram.run(Searchlight.self) { message in
            if let problem = wrongCommand(Array(CommandLine.arguments.dropFirst())) {
                Output.complain("Error: \(problem)")
                Output.complain("  See 'searchlight --help' for more information.")
                return
            }
            Output.complain("\(text: message)")
            let arguments = Array(CommandLine.arguments.dropFirst())
            if let hint = excludedWordHint(arguments, message) ?? dashHint(arguments, message)
                ?? ValueHint.question(for: message)
            {
                Output.complain("\(hint)")
            }
        }
    }

    /// Returns the error in the name or position of a command; `nil` if there is none.
    private static func wrongCommand(_ arguments: [String]) -> String? {
        let names = Searchlight.configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let first = arguments.first, first != "help" else { return nil }
        guard !names.contains(first) else { return wrongSubcommand(arguments) }
        guard first.hasPrefix("-") else {
            let near = CommandSynonyms.question(for: first, in: nil, among: names)
            return
                "There is no command “\(first.prefix(80))”. \(near ?? "“searchlight --help” lists them; “searchlight search WORDS” searches.")"
        }
        guard !first.hasPrefix("--generate-"), let name = arguments.first(where: names.contains) else { return nil }
        return "Options come after the command: searchlight \(name) \(first.prefix(80)) …"
    }

    /// Returns the error in the subcommand of a group such as `types`; `nil` if there is none, or
    /// if no name is similar.
    private static func wrongSubcommand(_ arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = Searchlight.self
        var place = "searchlight"
        for name in arguments {
            let children = command.configuration.subcommands
            if let child = children.first(where: { $0.configuration.commandName == name }) {
                command = child
                place += " " + name
                continue
            }
            guard !children.isEmpty, !name.hasPrefix("-") else { return nil }
            let near = CommandSynonyms.question(
                for: name, in: command.configuration.commandName,
                among: children.compactMap { $0.configuration.commandName })
            return near.map { "There is no command “\(place) \(name.prefix(80))”. \($0)" }
        }
        return nil
    }

    /// Returns the error in the command name after `help`; `nil` if there is none.
    private static func wrongHelp(_ arguments: [String]) -> String? {
        guard arguments.first == "help" else { return nil }
        var command: any ParsableCommand.Type = Searchlight.self
        for name in arguments.dropFirst() where !name.hasPrefix("-") {
            let children = command.configuration.subcommands
            if let child = children.first(where: { $0.configuration.commandName == name }) {
                command = child
                continue
            }
            // The command “help help” is valid.
            if command == Searchlight.self, name == "help" { return nil }
            let names = children.compactMap { $0.configuration.commandName }
            let place = command == Searchlight.self ? "" : " of \(command.configuration.commandName ?? "it")"
            let group = command == Searchlight.self ? nil : command.configuration.commandName
            let near =
                CommandSynonyms.question(for: name, in: group, among: names)
                ?? "“searchlight --help” lists the commands."
            return "There is no command “\(name.prefix(80))”\(place). \(near)"
        }
        return nil
    }

    /// Returns a hint for a name that begins with a dash and was parsed as an option; `nil` if the
    /// error has another cause.
    private static func dashHint(_ arguments: [String], _ message: String) -> String? {
        guard let command = arguments.first else { return nil }
        let words = Array(arguments.dropFirst().prefix { $0 != "--" })
        for (option, name) in zip(words, words.dropFirst())
        where ["--identifiers", "--domains", "--items"].contains(option) && name.count > 1 && name.hasPrefix("-") {
            return "To pass a name that begins with a dash: searchlight \(command) … \(option)=\(name.prefix(80))"
        }
        guard let kind = dashedArguments[command],
            concernsDashes(message),
            let name = words.first(where: { $0.count > 1 && $0.hasPrefix("-") && !$0.hasPrefix("--") })
        else { return nil }
        return "Put \(kind) that begins with a dash after --: searchlight \(command) -- \(name.prefix(80))"
    }

    /// Returns `true` if the cause of an error may be a dash at the beginning of an argument.
    private static func concernsDashes(_ message: String) -> Bool {
        ["Unknown option", "Missing expected argument"].contains(where: message.contains)
    }

    /// The arguments that may begin with a dash, by command.
    private static let dashedArguments = [
        "show": "an item", "preview": "an item", "open": "an item", "drag": "an item", "query": "a query",
        "similar": "an item", "why-not": "an item",
    ]

    /// The commands whose text may exclude words (`-word`), each with an example.
    private static let exclusions = [
        "search": "search -- notes -release", "suggest": "suggest -- -release not",
        "why-not": "why-not @12 -- notes -release", "window": "window -- notes -release",
        "continue": "continue com.example.notes -- notes -release", "similar": "similar -- @12 -app:mail",
    ]

    /// Returns a hint for an excluded word (`-word`) that was parsed as options; `nil` if there is
    /// none.
    private static func excludedWordHint(_ arguments: [String], _ message: String) -> String? {
        guard let command = arguments.first, let example = exclusions[command], concernsDashes(message),
            case let words = arguments.dropFirst().prefix(while: { $0 != "--" }),
            let place = words.firstIndex(where: { $0.count > 2 && $0.hasPrefix("-") && !$0.hasPrefix("--") })
        else { return nil }
        // Such a command takes an item first, whose name may itself begin with a dash.
        if dashedArguments[command] != nil, place == words.startIndex { return nil }
        return "To exclude items with a word, put -- first: searchlight \(example)"
    }
}
