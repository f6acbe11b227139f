// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine
import ServiceMessages

/// The expected outcome of a request to a broken extension.
indirect enum BrokenOutcome: Sendable, CustomStringConvertible {
    /// The fault does not affect the answer.
    case works
    /// The worker exits in one of these ways; in any way if the list is empty.
    case crashes([WorkerExit] = [])
    /// The host terminates the worker at its time limit.
    case hangs
    /// The host terminates the worker because of its memory use.
    case takesTooMuchMemory
    /// The extension is not loaded, for a reported reason.
    case cannotLoad(LoadFailure, String = "")
    /// The host does not try to load the extension.
    case isRefused
    /// The request fails with a status and a message.
    case fails(ExtensionStatus, String = "")
    /// The extension's answer is invalid.
    case makesNoSense(String = "")
    /// The delivered content does not match its declaration.
    case cannotBeDelivered
    /// The failing item is skip-listed, and everything else continues.
    case setsItemAside
    /// The caller no longer waits.
    case isCancelled
    /// The extension receives a request that has no answer.
    case isNotHeard
    /// Any of these outcomes, depending on chance or the kernel.
    case oneOf([BrokenOutcome])

    /// The worker is terminated by a signal.
    static func signal(_ number: Int32) -> Self { .crashes([.signalled(number)]) }

    var works: Bool {
        switch self {
        case .works, .setsItemAside: true
        case .oneOf(let all): all.contains { $0.works }
        default: false
        }
    }

    /// `true` if the extension may report that the item does not exist.
    var mayBeNotFound: Bool {
        switch self {
        case .fails(.notFound, _): true
        case .oneOf(let all): all.contains { $0.mayBeNotFound }
        default: false
        }
    }

    /// `true` if no worker has loaded the extension.
    var isOfLoading: Bool {
        switch self {
        case .cannotLoad, .isRefused: true
        case .oneOf(let all): all.allSatisfy(\.isOfLoading)
        default: false
        }
    }

    /// `true` if only the host's limits terminate the extension.
    var isEndedAtLimit: Bool {
        switch self {
        case .hangs: true
        case .oneOf(let all): all.contains { $0.isEndedAtLimit }
        default: false
        }
    }

    var description: String {
        switch self {
        case .works: "works"
        case .crashes(let exits): "crashes \(exits.isEmpty ? "" : "\(exits)")"
        case .hangs: "is ended at its limit"
        case .takesTooMuchMemory: "is ended for its memory"
        case .cannotLoad(let failure, let text): "cannot be loaded: \(failure) “\(text)”"
        case .isRefused: "is refused"
        case .fails(let status, let text): "fails: \(status) “\(text)”"
        case .makesNoSense(let text): "makes no sense “\(text)”"
        case .cannotBeDelivered: "cannot be delivered"
        case .setsItemAside: "sets the item aside"
        case .isCancelled: "is cancelled"
        case .isNotHeard: "is not heard"
        case .oneOf(let all): all.map(\.description).joined(separator: ", or ")
        }
    }

    /// Returns `true` if an answer matches this outcome.
    func matches(_ answer: BrokenAnswer) -> Bool {
        if case .oneOf(let all) = self { return all.contains { $0.matches(answer) } }
        switch answer {
        case .none:
            if case .works = self { return true }
        case .setAside:
            if case .setsItemAside = self { return true }
        case .unheard:
            if case .isNotHeard = self { return true }
        case .problem(let text): return isTold(in: text)
        case .error(.promise):
            if case .cannotBeDelivered = self { return true }
        case .error(.extension(let error)): return matches(error)
        case .error: break
        }
        return false
    }

    private func matches(_ error: ExtensionError) -> Bool {
        switch (self, error) {
        case (.crashes(let exits), .crashed(_, _, let exit, _)): exits.isEmpty || exits.contains(exit)
        case (.hangs, .timedOut), (.isRefused, .refused), (.isCancelled, .cancelled): true
        case (.takesTooMuchMemory, .memoryExceeded): true
        case (.cannotLoad(let expected, let text), .cannotLoad(_, let failure, let message)):
            failure == expected && (text.isEmpty || message.contains(text))
        case (.fails(let expected, let text), .failed(_, _, let status, let message)):
            status == expected && (text.isEmpty || message.contains(text))
        case (.makesNoSense(let text), .malformedAnswer(_, _, let reason)): text.isEmpty || reason.contains(text)
        default: false
        }
    }

    /// Returns `true` if a preview falls back to the item's attributes and shows the problem as a
    /// message.
    private func isTold(in text: String) -> Bool {
        switch self {
        case .crashes(let exits):
            text.contains("during the request to preview")
                && (exits.isEmpty || exits.contains { text.contains($0.description) })
        case .hangs: text.contains("did not answer or make progress")
        case .takesTooMuchMemory: text.contains("exceeded its memory limit")
        case .fails(_, let words): words.isEmpty || text.contains(words)
        case .makesNoSense(let words): text.contains("invalid answer") && (words.isEmpty || text.contains(words))
        case .cannotBeDelivered: text.contains("bytes")
        default: false
        }
    }
}

/// The outcome of a request.
enum BrokenAnswer: Sendable {
    /// The requested content.
    case none
    /// An error.
    case error(EngineError)
    /// A preview of the item's attributes instead of the content, with the reason.
    case problem(String)
    /// The requested content, without a skip-listed item.
    case setAside
    /// A notice without a recipient.
    case unheard
}
