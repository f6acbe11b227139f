// SPDX-License-Identifier: Apache-2.0

/// The outcome of one item in a drag.
public enum DragOutcome: Sendable {
    /// The item was delivered.
    case fulfilled(Fulfilment)
    /// The item was not delivered, and no file has appeared.
    case failed(DragFailure)

    /// The delivery, if it succeeded.
    public var fulfilment: Fulfilment? { if case .fulfilled(let fulfilment) = self { fulfilment } else { nil } }
    /// The failure, if the delivery failed.
    public var failure: DragFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

/// The delivery of a promise.
public struct Fulfilment: Hashable, Sendable {
    /// The delivered representation.
    public var representation: Representation
    /// The number of bytes.
    public var bytes: UInt64
    /// The path, unless the destination is a stream; for an original in place, its path.
    public var path: String?
    /// The SHA-256 of the bytes, if it was requested.
    public var digest: [UInt8]?
    /// `true` if this user may change the original in place; `nil` for copies.
    public var isWritable: Bool?
}

/// The failure of a promise.
public struct DragFailure: Error, Sendable {
    /// The kind of failure, for callers that react to it.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// The item offers no suitable representation, or the provider does not produce it.
        case unsupportedType
        /// The provider no longer has the item, or there is no provider.
        case notFound
        /// The provider denied the request, or the user declined it because of its size.
        case refused
        /// The drag was cancelled.
        case cancelled
        /// The provider or the receiver exceeded a time limit.
        case timedOut
        /// The provider crashed; if it was asked twice, it crashed twice.
        case crashed
        /// Reading or writing failed, or the provider's content differs from what it declared.
        case inputOutput
        /// The provider failed for any other reason.
        case failed
    }

    /// The kind of the failure.
    public var kind: Kind
    /// The reason, for the user.
    public var message: String
    /// The underlying error.
    public var cause: (any Error)?

    /// Creates a failure.
    public init(_ kind: Kind, _ message: String, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }

    init(_ error: PromiseError) { self.init(error.kind, error.description, cause: error) }
    init(_ failure: ProviderFailure) { self.init(failure.kind, failure.message, cause: failure.cause) }
}

extension PromiseError {
    /// The kind of failure for a drag.
    public var kind: DragFailure.Kind {
        switch self {
        case .unsupportedType, .unsupportedForm: .unsupportedType
        case .stalled, .noReceiver, .tooSlow: .timedOut
        case .cancelled: .cancelled
        case .inputOutput, .missingFolder, .noRoom, .wrongLength, .tooLarge, .unsafeContent, .tooMany: .inputOutput
        }
    }
}
