// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ExtensionHost
import Foundation
import Promises
import SearchIndex
import SearchlightEngine

/// The failure of a request from the page.
struct PageFailure: Error {
    /// The HTTP status.
    var status: Int
    /// A message that states the attempt, the failure and a remedy.
    var message: String

    init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Creates a failure from an error of the store or an extension, with a matching status.
    init(_ error: EngineError) {
        message = error.description
        status =
            switch error {
            case .itemNotFound, .itemElsewhere, .index(.noStore): 404
            case .ambiguousItem: 409
            case .query(.cancelled), .extension(.cancelled): Self.cancelled
            case .query: 400
            case .promise(.unsupportedType), .promise(.unsupportedForm): 406
            case .promise(.stalled), .promise(.noReceiver), .promise(.tooSlow): 504
            case .promise(.tooLarge): 413
            case .promise(.cancelled), .drag(.cancelled, _): Self.cancelled
            case .drag(.unsupportedType, _): 406
            case .drag(.notFound, _): 404
            case .drag(.refused, _): 403
            case .drag(.timedOut, _): 504
            case .drag(.crashed, _): 502
            case .promise, .drag, .semantic, .protection, .receipt: 500
            case .extension(let error): Self.status(of: error)
            case .index, .storeInUse, .alreadyReindexing, .storeFile, .service: 500
            }
    }

    /// Creates a failure for an item that was not opened.
    init(_ error: LaunchError) {
        message = error.description
        status =
            switch error.kind {
            case .noApp: 406
            case .missingFile: 404
            case .refused: 403
            case .cannotStart, .crashed: 502
            case .timedOut: 504
            case .cancelled: Self.cancelled
            }
    }

    /// The status for a request that the client closed: 499, which is in common use but not part of
    /// the HTTP standard.
    static let cancelled = 499

    private static func status(of error: ExtensionError) -> Int {
        switch error {
        case .notFound: 404
        case .refused, .disabled, .quarantined, .backingOff, .workerUnavailable, .delegateUnavailable: 503
        case .timedOut: 504
        case .crashed, .memoryExceeded, .malformedAnswer, .cannotLoad: 502
        case .cancelled: cancelled
        case .failed(_, _, let status, _):
            switch status {
            case .unsupported: 406
            case .notFound: 404
            case .refused: 403
            case .cancelled: cancelled
            default: 502
            }
        }
    }

    /// The failure as a JSON reply.
    var reply: PageReply {
        struct Report: Encodable {
            var error: String
            var status: Int
        }
        return .json(Report(error: message, status: status), status: status)
    }
}

extension PageReply {
    static func json(_ value: some Encodable, status: Int = 200) -> PageReply {
        // Strings, numbers and lists of these can always be encoded.
        let data = (try? JSONEncoder().encode(value)) ?? Data("{}".utf8)
        return PageReply(status: status, type: "application/json", policy: .data, body: .bytes(Array(data)))
    }
}
