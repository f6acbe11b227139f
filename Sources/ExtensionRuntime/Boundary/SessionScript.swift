// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import Dispatch
import Synchronization

/// The calls in a recorded session, in the form that a player needs.
struct SessionScript: Sendable {
    struct HostCall: Sendable {
        let number: UInt32
        let kind: HostCallKind
        let cause: UInt32
        let arguments: [BoundaryValue]
        /// The result; `nil` if the extension never returned.
        var result: BoundaryValue?
        /// The number of extension calls that came before.
        let extensionCallsBefore: Int
    }
    struct ExtensionCall: Sendable {
        let number: UInt32
        let function: BoundaryFunction
        let arguments: [BoundaryValue]
        var result: BoundaryValue?
        /// The number of host calls that came before.
        let hostCallsBefore: Int
        /// The position among all extension calls.
        let position: Int
        /// The number of extension calls that had returned before.
        let returnsBefore: Int
        /// The position among the returns of these calls; `nil` if the call never returned.
        let returnPosition: Int?
    }
    enum HostStep: Sendable {
        case call(HostCall)
        /// A request was cancelled after this number of extension calls.
        case cancel(request: UInt64, extensionCallsBefore: Int)
    }

    /// The host's calls and cancellations, in order.
    let hostSteps: [HostStep]
    /// The extension's calls by lane: the number of the enclosing host call, or 0 for the
    /// extension's own threads.
    let lanes: [UInt32: [ExtensionCall]]
    let extensionCallCount: Int
    let ending: SessionEnding
    let isScrubbed: Bool
    /// `true` if later calls are missing from the recording.
    let isTruncated: Bool

    init(_ session: RecordedSession, isScrubbed: Bool) {
        var returns: [UInt32: BoundaryValue] = [:]
        var results: [UInt32: BoundaryValue] = [:]
        var returnPositions: [UInt32: Int] = [:]
        for event in session.events {
            switch event {
            case .hostReturn(let number, let value): returns[number] = value
            case .extensionReturn(let number, let value):
                results[number] = value
                returnPositions[number] = returnPositions.count
            default: break
            }
        }
        var (steps, lanes) = ([HostStep](), [UInt32: [ExtensionCall]]())
        var (hostCalls, extensionCalls, extensionReturns) = (0, 0, 0)
        for event in session.events {
            switch event {
            case .hostCall(let number, let kind, let cause, let arguments):
                steps.append(
                    .call(
                        HostCall(
                            number: number, kind: kind, cause: cause, arguments: arguments, result: returns[number],
                            extensionCallsBefore: extensionCalls)))
                hostCalls += 1
            case .extensionCall(let number, let within, let function, let arguments):
                lanes[within, default: []].append(
                    ExtensionCall(
                        number: number, function: function, arguments: arguments, result: results[number],
                        hostCallsBefore: hostCalls, position: extensionCalls, returnsBefore: extensionReturns,
                        returnPosition: returnPositions[number]))
                extensionCalls += 1
            case .cancelled(let request):
                steps.append(.cancel(request: request, extensionCallsBefore: extensionCalls))
            case .extensionReturn: extensionReturns += 1
            case .hostReturn, .truncated: break
            }
        }
        hostSteps = steps
        self.lanes = lanes
        extensionCallCount = extensionCalls
        ending = session.ending
        isTruncated = session.isTruncated
        self.isScrubbed = isScrubbed
    }

    /// Returns `true` if a crash on another thread may have ended a lane early, so that it may have
    /// more calls than the recording; see `SessionTrace.isInterrupted`.
    func isInterrupted(_ lane: UInt32) -> Bool {
        let unfinished = hostCalls.filter { $0.result == nil }.map(\.number)
        guard ending.isCrash, unfinished.contains(lane) else { return false }
        return unfinished.count > 1 || lanes[0] != nil
    }

    /// The host's calls, in order.
    var hostCalls: [HostCall] {
        hostSteps.compactMap { if case .call(let call) = $0 { call } else { nil } }
    }
}

/// A count of calls that threads can wait for.
final class CallProgress: Sendable {
    private struct State {
        /// The positions of completed calls after the first gap.
        var done: Set<Int> = []
        /// The number of calls before the first gap.
        var prefix = 0
        var waiting: [(count: Int, semaphore: DispatchSemaphore)] = []
    }
    private let state = Mutex(State())
    /// The time without any call after which a player gives up.
    static let patience = DispatchTimeInterval.seconds(10)

    var prefix: Int { state.withLock { $0.prefix } }

    /// Marks the call at a position as made.
    func mark(_ position: Int) {
        let ready = state.withLock { state -> [DispatchSemaphore] in
            state.done.insert(position)
            while state.done.remove(state.prefix) != nil { state.prefix += 1 }
            let prefix = state.prefix
            defer { state.waiting.removeAll { $0.count <= prefix } }
            return state.waiting.filter { $0.count <= prefix }.map(\.semaphore)
        }
        for semaphore in ready { semaphore.signal() }
    }

    /// Waits until this number of calls has been made. Returns `false` if there was no progress for
    /// a while.
    func wait(for count: Int) -> Bool {
        while true {
            let semaphore = DispatchSemaphore(value: 0)
            let before = state.withLock { state -> Int? in
                guard state.prefix < count else { return nil }
                state.waiting.append((count, semaphore))
                return state.prefix
            }
            guard let before else { return true }
            if semaphore.wait(timeout: .now() + Self.patience) == .success { return true }
            guard prefix > before else { return prefix >= count }
        }
    }
}
