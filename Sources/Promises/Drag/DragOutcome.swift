// SPDX-License-Identifier: Apache-2.0

/// How the drag of one item ended.
public enum DragOutcome: Sendable {
    /// It is where it should be.
    case fulfilled(Fulfilment)
    /// It is not, and no file has appeared.
    case failed(DragFailure)

    /// What was delivered, if it was.
    public var fulfilment: Fulfilment? { if case .fulfilled(let fulfilment) = self { fulfilment } else { nil } }
    /// Why it was not, if it was not.
    public var failure: DragFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

/// What became of a promise.
public struct Fulfilment: Hashable, Sendable {
    /// What was asked for.
    public var representation: Representation
    /// How many bytes it has.
    public var bytes: UInt64
    /// Where it is, unless it went to a stream; of a file in place, where that is.
    public var path: String?
    /// The SHA-256 of the bytes, if it was wanted.
    public var digest: [UInt8]?
    /// Of a file in place, whether this user may change it.
    public var isWritable: Bool?
}

/// Why a promise was not kept.
public struct DragFailure: Error, Sendable {
    /// The kinds of end; each is told apart by those who react to it.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// The item offers nothing that serves the receiver, or the provider does not make it after all.
        case unsupportedType
        /// The provider has no such item any more, or there is none to ask.
        case notFound
        /// The provider may not or does not want to, or the person who drags does not want so much.
        case refused
        /// Nobody wants it any more.
        case cancelled
        /// The provider or the receiver took too long.
        case timedOut
        /// The provider crashed, twice if it was asked twice.
        case crashed
        /// Reading or writing failed, or the provider gave something else than it said.
        case inputOutput
        /// The provider failed in another way.
        case failed
    }

    /// What kind of end it is.
    public var kind: Kind
    /// Why, for people.
    public var message: String
    /// The error below.
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
    /// What kind of end of a drag it is.
    public var kind: DragFailure.Kind {
        switch self {
        case .unsupportedType, .unsupportedForm: .unsupportedType
        case .stalled, .noReceiver, .tooSlow: .timedOut
        case .cancelled: .cancelled
        case .inputOutput, .missingFolder, .noRoom, .wrongLength, .tooLarge, .unsafeContent, .tooMany: .inputOutput
        }
    }
}
