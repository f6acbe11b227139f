// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Foundation
import Glibc
import SearchlightEngine
import Synchronization

/// The user's systemd instance, accessed through `systemctl`.
struct UserManager: Sendable {
    /// The state of the service's systemd unit.
    enum UnitState: Equatable {
        /// There is no systemd instance for this user.
        case noManager
        /// systemd has no unit for the service.
        case notInstalled
        /// The service does not start with the session.
        case disabled
        /// The service starts with the session.
        case enabled
    }

    static let unit = "searchlightd.service"
    /// The time limit of a call, in seconds; starting a service may take some time.
    private static let patience = 30
    private static let maximumOutput = 1 << 16

    private let program: String?

    init(environment: [String: String]) {
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        program = folders.map { "\($0)/systemctl" }.first { access($0, X_OK) == 0 }
    }

    func state() -> UnitState {
        guard let (status, output) = try? run(["is-enabled", Self.unit]) else { return .noManager }
        switch output.trimmingCharacters(in: .whitespacesAndNewlines) {
        case "enabled", "enabled-runtime", "static", "alias": return .enabled
        case "disabled", "indirect", "linked", "linked-runtime": return .disabled
        case "not-found", "masked", "masked-runtime": return .notInstalled
        case let text: return status == 0 ? .enabled : text.contains("No such file") ? .notInstalled : .noManager
        }
    }

    /// Starts the service now, and whenever a session starts.
    func enable() throws(CommandFailure) { try change(["enable", "--now", Self.unit]) }

    /// Stops the service, and no longer starts it when a session starts.
    func disable() throws(CommandFailure) { try change(["disable", "--now", Self.unit]) }

    private func change(_ arguments: [String]) throws(CommandFailure) {
        let (status, output) = try run(arguments)
        guard status != 0 else { return }
        let reason = output.trimmingCharacters(in: .whitespacesAndNewlines)
        let detail = reason.isEmpty ? "it ended with status \(status)" : Output.tidied(reason)
        throw failure(arguments, detail)
    }

    private func failure(_ arguments: [String], _ detail: String) -> CommandFailure {
        CommandFailure(
            message: "systemctl --user \(arguments.joined(separator: " ")) failed: \(detail)", status: .failure)
    }

    private func run(_ arguments: [String]) throws(CommandFailure) -> (status: Int32, output: String) {
        guard let program else { throw failure(arguments, "the program systemctl is not installed.") }
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = ["--user", "--no-pager"] + arguments
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch { throw failure(arguments, systemReason(of: error)) }
        let identifier = process.processIdentifier
        let isOver = Mutex(false)
        // Ends a call that waits for a session bus that does not answer.
        let watchdog = Task.detached {
            guard (try? await Task.sleep(for: .seconds(Self.patience))) != nil else { return }
            isOver.withLock { if !$0 { kill(identifier, SIGTERM) } }
        }
        let data = (try? pipe.fileHandleForReading.read(upToCount: Self.maximumOutput) ?? nil) ?? Data()
        process.waitUntilExit()
        isOver.withLock { $0 = true }
        watchdog.cancel()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
