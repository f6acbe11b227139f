// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Glibc
import SearchlightEngine
import Synchronization

struct InhibitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inhibit",
        abstract: "Run a command, and keep background work paused until it ends.",
        discussion: """
            For measurements, presentations and games: searchlight inhibit -- make bench. Running background work is paused. \
            The exit status is the status of the command; 127 if the command is not found, 126 if it cannot be started. \
            Control-C reaches the command through the terminal. This program forwards SIGTERM to the command, and not SIGINT.
            """)

    @OptionGroup var options: GlobalOptions
    @Option(help: "Show this reason to users who ask why background work is paused.")
    var why: String?
    @Argument(
        parsing: .captureForPassthrough, help: ArgumentHelp("The command and its arguments.", valueName: "command"))
    var command: [String]

    func validate() throws {
        // Unrecognized arguments are captured here, including options that all commands have.
        if let first = command.first, first != "--", first.hasPrefix("-") {
            switch first {
            case "-h", "--help": throw CleanExit.helpRequest(self)
            case "--version": throw CleanExit.message(Installation.version)
            default:
                throw ValidationError(
                    "Unknown option “\(first)”. Put the command after “--”: searchlight inhibit -- make bench")
            }
        }
        if (words.first ?? "").isEmpty { throw ValidationError("Name a command: searchlight inhibit -- make bench") }
    }

    private var words: [String] { command.first == "--" ? Array(command.dropFirst()) : command }

    func run() async throws {
        let words = words
        // If the options bypass the service, only runs the command, because the scheduler is in the
        // service.
        guard !options.staysInProcess else { throw ExitCode(await Child.run(words)) }
        let service = await connect()
        let holding = Task { [why, store = options.storeDirectory] in
            await Inhibition(who: words[0], why: why ?? words.joined(separator: " "), store: store).hold(service)
        }
        let status = await Child.run(words)
        holding.cancel()
        await holding.value
        throw ExitCode(status)
    }

    /// Returns the service if it is running. The command runs in either case.
    private func connect() async -> RemoteEngine? {
        do throws(EngineError) {
            if let service = try await options.connectToService() { return service }
            Output.complain(
                "Note: no service runs. A service that starts during the command will begin no background work.")
        } catch {
            Output.complain("Note: background work is not paused yet. \(error.description)")
        }
        return nil
    }
}

/// Inhibits background work while the command runs.
private struct Inhibition: Sendable {
    let who: String
    let why: String
    let store: String

    /// The maximum delay between two attempts to find the service again.
    private static let longestPause = Duration.seconds(30)

    /// Inhibits a service, and any service that replaces it, until the task is cancelled. A new
    /// service does not know about earlier inhibitions.
    ///
    /// - Parameter first: The running service, if there is one.
    func hold(_ first: RemoteEngine?) async {
        var service = first
        var (pause, hasComplained) = (Duration.seconds(1), false)
        while !Task.isCancelled {
            if let present = service {
                do throws(EngineError) { try await present.inhibit(who: who, why: why) } catch {
                    if !Task.isCancelled, !hasComplained, case .service(.refused) = error {
                        hasComplained = true
                        Output.complain(
                            "Note: background work is not paused yet. \(error.description)")
                    }
                }
                await present.close()
            }
            service = nil
            while service == nil {
                guard (try? await Task.sleep(for: pause)) != nil else { return }
                pause = min(pause * 2, Self.longestPause)
                service = try? await RemoteEngine.connect(storeDirectory: store, program: "searchlight")
            }
        }
    }
}

/// The child process in which the command runs.
private enum Child {
    /// Runs the command with this process's streams, working directory and signal settings.
    ///
    /// - Returns: The command's exit status; 128 plus the signal number; 127 if there is no such
    ///   command; 126 if it cannot be started.
    static func run(_ words: [String]) async -> Int32 {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This thread blocks signals, but the command must start with the program's original
        // settings.
        var (defaults, mask) = Signals.beforehand
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        // An interrupt from the terminal is also sent to the command; this process waits for it.
        for number in [SIGINT, SIGQUIT] { signal(number, SIG_IGN) }
        // A signal to this process terminates the command, even while it is being started.
        let ending = Mutex<(process: pid_t?, isWanted: Bool)>((nil, false))
        Signals.onInterruption {
            ending.withLock { ending in
                ending.isWanted = true
                if let process = ending.process { kill(process, SIGTERM) }
            }
        }
        var process: pid_t = 0
        let code = posix_spawnp(&process, words[0], nil, &attributes, &arguments, environ)
        guard code == 0 else {
            let isMissing = code == ENOENT
            let remedy =
                isMissing ? "Check how it is spelled." : "Check that it is an executable program."
            Output.fail("Starting \(words[0]) failed: \(String(cString: strerror(code))). \(remedy)")
            return isMissing ? 127 : 126
        }
        let started = process
        ending.withLock { ending in
            ending.process = started
            if ending.isWanted { kill(started, SIGTERM) }
        }
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var status: Int32 = 0
                while waitpid(started, &status, 0) < 0, errno == EINTR {}
                let signal = status & 0x7F
                continuation.resume(returning: signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
            }
        }
    }
}
