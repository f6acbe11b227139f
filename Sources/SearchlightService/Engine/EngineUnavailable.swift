// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine

/// The reason why the engine is unavailable.
enum EngineUnavailable: Error, Sendable, CustomStringConvertible {
    /// A repair of the store is in progress.
    case repairing
    /// Requests used the engine for longer than a repair waits for them.
    case inUse(Duration)
    /// A repair has lasted longer than a request waits.
    case tooLong(Duration)
    /// The maximum number of requests is waiting.
    case tooMany(Int)
    /// The engine could not be opened, or could only be opened for reading.
    case failed(EngineError)
    /// The service is stopping.
    case stopped
    /// The waiting client has disconnected.
    case cancelled

    /// The reason, with advice.
    var description: String {
        switch self {
        case .repairing: "A repair of the store is already in progress. Wait until it ends."
        case .inUse(let time):
            "The store cannot be repaired: requests have used it for \(time). Try again when they have ended."
        case .tooLong(let time): "The store has been under repair for more than \(time). Try again later."
        case .tooMany(let count): "\(count) requests are waiting for the repair of the store. Try again later."
        case .failed(let error): "The store cannot be used. \(error.description)"
        case .stopped: "The service is stopping. Try again after its end."
        case .cancelled: "The request was cancelled."
        }
    }
}
