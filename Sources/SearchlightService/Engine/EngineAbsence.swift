// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine

/// Why the engine cannot be used now.
enum EngineAbsence: Error, Sendable, CustomStringConvertible {
    /// Another program has the store.
    case lent
    /// It is being used, and was for as long as was waited.
    case inUse(Duration)
    /// Another program has had the store for as long as was waited.
    case tooLong(Duration)
    /// So many wait already.
    case tooMany(Int)
    /// It could not be opened again.
    case failed(EngineError)
    /// The service is being stopped.
    case stopped
    /// Whoever waited has gone.
    case cancelled

    /// Why, and what to do.
    var description: String {
        switch self {
        case .lent: "Another program has borrowed the store. Wait until it is done."
        case .inUse(let time):
            "The store cannot be lent: it was used by other requests for \(time). Try again when they are done."
        case .tooLong(let time): "Another program has had the store for more than \(time). Try again later."
        case .tooMany(let count): "\(count) requests wait for the store, which another program has. Try again later."
        case .failed(let error): "The store could not be opened again. \(error.description)"
        case .stopped: "The service is being stopped. Try again once it has ended."
        case .cancelled: "The request was cancelled."
        }
    }
}
