// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine

/// Why the engine cannot be used now.
enum EngineUnavailable: Error, Sendable, CustomStringConvertible {
    /// Its store is being repaired.
    case repairing
    /// It was used by requests for as long as a repair waits for them.
    case inUse(Duration)
    /// Its store has been repaired for as long as a request waits.
    case tooLong(Duration)
    /// The most requests that may wait do.
    case tooMany(Int)
    /// It could not be opened again.
    case failed(EngineError)
    /// The service is being stopped.
    case stopped
    /// The client that waited has gone.
    case cancelled

    /// Why, and what to do.
    var description: String {
        switch self {
        case .repairing: "The store is being repaired already. Wait until that is done."
        case .inUse(let time):
            "The store cannot be repaired: requests have used it for \(time). Try again when they are done."
        case .tooLong(let time): "The store has been under repair for more than \(time). Try again later."
        case .tooMany(let count): "\(count) requests wait for the repair of the store. Try again later."
        case .failed(let error): "The store could not be opened again. \(error.description)"
        case .stopped: "The service is being stopped. Try again once it has ended."
        case .cancelled: "The request was cancelled."
        }
    }
}
