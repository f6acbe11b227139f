// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExtensionHost
import Foundation
import Promises
import SearchIndex
import SearchlightEngine

/// The exit statuses of commands. Scripts rely on these numbers.
package enum ExitStatus: Int32 {
    case failure = 1
    case notFound = 2
    case unsupportedType = 3
    case refused = 4
    case cancelled = 5
    case timedOut = 6
    case crashed = 7
    case inputOutput = 8
    case storeInUse = 9
    /// A check found damage, or a comparison found differences.
    case damageFound = 10
    /// An extension failed a check.
    case checkFailed = 11
    /// A recording lacks later calls.
    case incomplete = 12
    case usage = 64
    // 71 (EX_OSERR): a resource limit is too small to start the program (CStart).
    /// The reader of standard output closed the pipe. A shell reports this status for SIGPIPE.
    case closedPipe = 141

    package init(_ error: EngineError) {
        switch error {
        case .index(.noStore), .itemNotFound, .itemElsewhere, .ambiguousItem: self = .notFound
        case .index(.full), .index(.readOnly), .index(.damaged), .index(.losingRepair), .index(.storage),
            .index(.untrusted), .storeFile:
            self = .inputOutput
        case .index(.mismatchedClientState): self = .refused
        case .index: self = .failure
        case .storeInUse, .alreadyReindexing: self = .storeInUse
        case .query(.cancelled): self = .cancelled
        case .query: self = .failure
        case .promise(let error): self.init(error)
        case .drag(let kind, _): self.init(kind)
        case .extension: self.init(DragFailure.Kind(error))
        case .service(let problem): self.init(problem)
        case .semantic, .receipt: self = .failure
        case .protection(.locked), .protection(.noKeys), .protection(.unprotectedItems), .protection(.sessionLocked),
            .protection(.otherStorage):
            self = .refused
        case .protection(.keyring(.dismissed)): self = .cancelled
        case .protection(.keyring(.timedOut)): self = .timedOut
        case .protection(.keyring): self = .refused
        case .protection(.file), .protection(.damaged), .protection(.missingKeys), .protection(.replaced):
            self = .inputOutput
        case .protection: self = .failure
        }
    }

    private init(_ problem: ServiceProblem) {
        switch problem {
        case .notAnswering: self = .timedOut
        case .cannotConnect, .ended: self = .inputOutput
        case .refused: self = .refused
        case .otherVersion, .malformedAnswer, .requestTooLarge, .answerTooLarge: self = .failure
        }
    }

    package init(_ error: PromiseError) { self.init(error.kind) }

    /// The exit status for a failed drag.
    package init(_ kind: DragFailure.Kind) {
        switch kind {
        case .unsupportedType: self = .unsupportedType
        case .notFound: self = .notFound
        case .refused: self = .refused
        case .cancelled: self = .cancelled
        case .timedOut: self = .timedOut
        case .crashed: self = .crashed
        case .inputOutput: self = .inputOutput
        case .failed: self = .failure
        }
    }
}

/// A failure that a command itself detects.
package struct CommandFailure: Error {
    package var message: String
    package var status: ExitStatus

    /// Creates a failure.
    package init(message: String, status: ExitStatus) {
        self.message = message
        self.status = status
    }
}

/// A command whose errors become one message on standard error, or a JSON object, and an exit
/// status.
package protocol ReportingCommand: AsyncParsableCommand {
    /// `true` if the command prints JSON.
    var printsJSON: Bool { get }
    /// Performs the command.
    func perform() async throws
}

extension ReportingCommand {
    package mutating func run() async throws {
        do { try await perform() } catch { throw end(error, json: printsJSON) }
    }
}

/// A command that has the options common to all commands.
package protocol OptionedCommand: ReportingCommand {
    /// The options.
    var options: GlobalOptions { get }
}

extension OptionedCommand {
    package var printsJSON: Bool { options.json }
}

/// Reports the error that ends a command.
///
/// - Returns: The error to throw.
private func end(_ error: any Error, json: Bool) -> any Error {
    switch error {
    case let error as EngineError: report(error.description, ExitStatus(error), json: json)
    case let error as CommandFailure: report(error.message, error.status, json: json)
    case let error as OutputError: end(error)
    default: error
    }
}

private func report(_ message: String, _ status: ExitStatus, json: Bool) -> any Error {
    guard json else {
        Output.fail(message)
        return ExitCode(status.rawValue)
    }
    do {
        try Output.printJSON(ErrorReport(error: Output.tidied(message), status: status.rawValue))
        return ExitCode(status.rawValue)
    } catch let error as OutputError {
        return end(error)
    } catch {
        return error
    }
}

/// Returns the exit code for a failed write to standard output. A closed pipe is not reported.
package func end(_ error: OutputError) -> ExitCode {
    if error.isClosedPipe { return ExitCode(ExitStatus.closedPipe.rawValue) }
    Output.fail(error.description)
    return ExitCode(ExitStatus.inputOutput.rawValue)
}

private struct ErrorReport: Encodable {
    var error: String
    var status: Int32
}
