// SPDX-License-Identifier: Apache-2.0

internal import SearchlightExtension
import Synchronization

/// The completions that run when the host reports the end of an index request.
///
/// The context that the host receives is a number, not a pointer. So a completion that is called
/// twice, or after the extension was destroyed, finds no entry instead of freed memory.
enum PendingCompletions {
    /// The result of a request that lists items.
    typealias Listing = Result<[String], CSIndexError>

    private enum Completion {
        case outcome(@Sendable (IndexTransport.Outcome) -> Void)
        case listing(@Sendable (Listing) -> Void)

        func fail(_ error: CSIndexError) {
            switch self {
            case .outcome(let completion): completion(.failure(error))
            case .listing(let completion): completion(.failure(error))
            }
        }
    }

    private struct Entry {
        let connection: ObjectIdentifier
        let completion: Completion
    }

    private struct Table {
        var lastNumber: UInt = 0
        var entries: [UInt: Entry] = [:]
    }

    private static let table = Mutex(Table())

    /// Stores a completion, and returns the context to pass to the host with ``function``.
    static func add(
        _ completion: @escaping @Sendable (IndexTransport.Outcome) -> Void, for connection: HostConnection
    ) -> UnsafeMutableRawPointer? { add(.outcome(completion), for: connection) }

    /// Stores the completion of a listing, and returns the context to pass with ``listFunction``.
    static func add(
        listing completion: @escaping @Sendable (Listing) -> Void, for connection: HostConnection
    ) -> UnsafeMutableRawPointer? { add(.listing(completion), for: connection) }

    private static func add(_ completion: Completion, for connection: HostConnection) -> UnsafeMutableRawPointer? {
        let number = table.withLock { table in
            table.lastNumber += 1
            table.entries[table.lastNumber] = Entry(
                connection: ObjectIdentifier(connection), completion: completion)
            return table.lastNumber
        }
        return UnsafeMutableRawPointer(bitPattern: number)
    }

    /// Calls a completion, unless it has already been called.
    static func complete(_ context: UnsafeMutableRawPointer?, _ outcome: IndexTransport.Outcome) {
        switch remove(context) {
        case .outcome(let completion)?: completion(outcome)
        case let other?: if case .failure(let error) = outcome { other.fail(error) }
        case nil: break
        }
    }

    private static func remove(_ context: UnsafeMutableRawPointer?) -> Completion? {
        table.withLock { $0.entries.removeValue(forKey: UInt(bitPattern: context)) }?.completion
    }

    /// Fails the requests that the host had not completed when the connection was closed.
    static func failAll(of connection: HostConnection) {
        let entries = table.withLock { table in
            let lost = table.entries.filter { $0.value.connection == ObjectIdentifier(connection) }
            for number in lost.keys { table.entries[number] = nil }
            return lost
        }
        for entry in entries.values {
            entry.completion.fail(
                CSIndexError(
                    .remoteConnectionError, "The host ended before it acknowledged the request."))
        }
    }

    /// The C function that the host calls at the end of a request.
    static let function: @convention(c) (UnsafeMutableRawPointer?, searchlight_status, UnsafePointer<CChar>?) -> Void =
        { context, status, message in
            let error = CSIndexError(status, message.map { String(cString: $0) })
            PendingCompletions.complete(context, error.map { .failure($0) } ?? .success(nil))
        }

    /// The C function that the host calls at the end of a batch. For a batch, `SEARCHLIGHT_REFUSED`
    /// means that the client state did not match.
    static let batchFunction:
        @convention(c) (UnsafeMutableRawPointer?, searchlight_status, UnsafePointer<CChar>?) -> Void = {
            context, status, message in
            guard status == SEARCHLIGHT_REFUSED else { return function(context, status, message) }
            let text = message.map { String(cString: $0) } ?? "The client state is not the expected one."
            PendingCompletions.complete(context, .failure(CSIndexError(.mismatchedClientState, text)))
        }

    /// The C function that the host calls with a client state.
    static let stateFunction:
        @convention(c) (
            UnsafeMutableRawPointer?, searchlight_status, UnsafePointer<CChar>?, UnsafeRawPointer?, Int
        ) -> Void = { context, status, message, state, length in
            guard status == SEARCHLIGHT_OK else { return function(context, status, message) }
            let bytes = state.map { Array(UnsafeRawBufferPointer(start: $0, count: max(0, length))) }
            PendingCompletions.complete(context, .success(bytes))
        }

    /// The C function that the host calls with a page of identifiers.
    static let listFunction:
        @convention(c) (
            UnsafeMutableRawPointer?, searchlight_status, UnsafePointer<CChar>?,
            UnsafePointer<UnsafePointer<CChar>?>?, Int
        ) -> Void = { context, status, message, identifiers, count in
            guard status == SEARCHLIGHT_OK else { return function(context, status, message) }
            let names = (0..<max(0, count)).compactMap { index in
                identifiers?[index].map { String(cString: $0) }
            }
            guard case .listing(let completion)? = remove(context) else { return }
            completion(.success(names))
        }
}

extension CSIndexError {
    /// Creates the error for a status of the C interface; `nil` for success.
    init?(_ status: searchlight_status, _ message: String?) {
        let code: Code
        let plain: String
        switch status {
        case SEARCHLIGHT_OK: return nil
        case SEARCHLIGHT_UNSUPPORTED: (code, plain) = (.indexingUnsupported, "The host does not support the request.")
        case SEARCHLIGHT_CANCELLED:
            (code, plain) = (.remoteConnectionError, "The request was cancelled; make it again.")
        case SEARCHLIGHT_INVALID_ARGUMENT:
            (code, plain) = (.invalidItemError, "The host could not read the items or identifiers.")
        case SEARCHLIGHT_UNAVAILABLE: (code, plain) = (.indexUnavailableError, "The index is not available now.")
        case SEARCHLIGHT_TOO_LARGE: (code, plain) = (.quotaExceeded, "The request exceeds a limit of the host.")
        case SEARCHLIGHT_REFUSED: (code, plain) = (.quotaExceeded, "The host does not allow the request.")
        default: (code, plain) = (.unknownError, "The request to the index failed with status \(status).")
        }
        self.init(code, message.flatMap { $0.isEmpty ? nil : $0 } ?? plain)
    }
}
