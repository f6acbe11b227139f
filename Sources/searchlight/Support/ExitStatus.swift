// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExtensionHost
import Foundation
import Promises
import SearchIndex
import SearchlightEngine

/// How a command ends; the numbers are part of what scripts rely on.
enum ExitStatus: Int32 {
    case failure = 1
    case notFound = 2
    case unsupportedType = 3
    case refused = 4
    case cancelled = 5
    case timedOut = 6
    case crashed = 7
    case inputOutput = 8
    case storeInUse = 9

    init(_ error: EngineError) {
        switch error {
        case .index(.noStore), .itemNotFound, .ambiguousItem: self = .notFound
        case .index(.full), .index(.readOnly), .storeFile: self = .inputOutput
        case .index: self = .failure
        case .storeInUse: self = .storeInUse
        case .promise(.unsupportedType): self = .unsupportedType
        case .promise(.stalled): self = .timedOut
        case .promise: self = .inputOutput
        case .extension(let error): self.init(error)
        }
    }

    private init(_ error: ExtensionError) {
        switch error {
        case .notFound: self = .notFound
        case .refused: self = .refused
        case .crashed: self = .crashed
        case .timedOut: self = .timedOut
        case .cancelled: self = .cancelled
        case .failed(_, _, let status, _):
            switch status {
            case .unsupported: self = .unsupportedType
            case .notFound: self = .notFound
            case .cancelled: self = .cancelled
            case .refused: self = .refused
            default: self = .failure
            }
        case .workerUnavailable, .cannotLoad, .malformedAnswer: self = .failure
        }
    }
}

/// Runs the body of a command; an error becomes one message on standard error (or a JSON object) and an exit status.
func run(json: Bool, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let error as EngineError {
        let status = ExitStatus(error)
        if json {
            try Output.printJSON(ErrorReport(error: error.description, status: status.rawValue))
        } else {
            Output.complain("searchlight: " + error.description)
        }
        throw ExitCode(status.rawValue)
    }
}

private struct ErrorReport: Encodable {
    var error: String
    var status: Int32
}
