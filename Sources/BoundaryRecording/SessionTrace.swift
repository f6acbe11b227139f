// SPDX-License-Identifier: Apache-2.0

/// The calls in a session by lane. The calls in one lane have an order that does not depend on
/// thread timing: those within one call of the host, or those from the extension's own threads.
struct SessionTrace {
    /// One call and its result.
    struct Step: Equatable {
        enum Call: Equatable {
            case host(HostCallKind, [BoundaryValue])
            case `extension`(BoundaryFunction, [BoundaryValue])
        }
        var call: Call
        /// The result; `nil` if the call did not return.
        var result: BoundaryValue?
        /// `false` if the session may have ended before this call.
        var isRequired: Bool
        /// `false` if the session may have ended before the return.
        var mustReturn: Bool
    }

    private(set) var lanes: [String: [Step]] = [:]
    /// The steps in event order.
    private(set) var order: [(lane: String, index: Int)] = []

    /// `true` if later calls and returns are missing.
    let isTruncated: Bool

    /// `true` if the extension crashed.
    private let isCrash: Bool

    /// The lane for calls from the extension's own threads.
    private static let ownThreads = "threads of the extension"

    /// - Parameter comparesMessages: `false` to ignore the host's messages.
    init(_ session: RecordedSession, comparesMessages: Bool = true) {
        isTruncated = session.isTruncated
        isCrash = session.ending.isCrash
        let tail = Self.tail(of: session)
        var hostLanes: [UInt32: String] = [:]
        var places: [UInt32: (lane: String, index: Int)] = [:]
        var requests = 0
        for (position, event) in session.events.enumerated() {
            let isInTail = position > tail
            switch event {
            case .hostCall(let number, let kind, let cause, let arguments):
                let lane: String
                if kind == .load {
                    lane = kind.title
                } else if kind.isRequest {
                    requests += 1
                    lane = "request \(requests), \(kind.title)"
                } else {
                    let place = places[cause] ?? (lane: "an unknown call", index: Int(cause))
                    lane = "\(place.lane), \(kind.title) of call \(place.index)"
                }
                hostLanes[number] = lane
                var arguments = arguments
                // A status and its message.
                if kind.isCallback, kind != .cancel, !comparesMessages, arguments.count > 1 { arguments[1] = .null }
                let isRequired = !isInTail && !(session.ending.isCrash && kind.isCallback)
                add(
                    Step(call: .host(kind, arguments), result: nil, isRequired: isRequired, mustReturn: false), to: lane
                )
            case .hostReturn(let number, let value):
                if let lane = hostLanes[number] { lanes[lane]?[0].result = value }
            case .extensionCall(let number, let within, let function, let arguments):
                let lane = within == 0 ? Self.ownThreads : hostLanes[within] ?? "an unknown call"
                let isAfterCallback = within == 0 || lanes[lane]?.first.map(Self.isCallback) == true
                let isRequired = !isInTail && !(session.ending.isCrash && isAfterCallback)
                // The return of a function that has no result, such as an answer, carries no
                // information.
                let mustReturn =
                    position < tail && session.ending == .finished && !isTruncated && function.result != .none
                places[number] = (lane, lanes[lane]?.count ?? 0)
                add(
                    Step(
                        call: .extension(function, arguments), result: nil, isRequired: isRequired,
                        mustReturn: mustReturn), to: lane)
            case .extensionReturn(let number, let value):
                if let place = places[number] { lanes[place.lane]?[place.index].result = value }
            case .cancelled, .truncated: break
            }
        }
    }

    private mutating func add(_ step: Step, to lane: String) {
        var step = step
        if case .extension(let function, let arguments) = step.call {
            step.call = .extension(function, arguments.map(RecordedFolders.withoutTemporaryName))
        }
        order.append((lane, lanes[lane]?.count ?? 0))
        lanes[lane, default: []].append(step)
    }

    /// Returns `true` if a lane may have more calls than the recording contains.
    func isOpen(_ lane: String) -> Bool {
        // When a call of the host has returned, it has made all of its calls.
        guard isTruncated, case .host? = lanes[lane]?.first?.call else { return isTruncated }
        return lanes[lane]?.first?.result == nil
    }

    /// Returns `true` if a crash on another thread may have ended a lane early. That is possible
    /// for a call of the host that had not returned, if another thread was at work too.
    func isInterrupted(_ lane: String) -> Bool {
        let isUnfinished = { (steps: [Step]?) -> Bool in
            guard let first = steps?.first, case .host = first.call else { return false }
            return first.result == nil
        }
        guard isCrash, isUnfinished(lanes[lane]) else { return false }
        return lanes.contains { $0.key != lane && ($0.key == Self.ownThreads || isUnfinished($0.value)) }
    }

    private static func isCallback(_ step: Step) -> Bool {
        if case .host(let kind, _) = step.call { kind.isCallback } else { false }
    }

    /// Returns the position of the last event that the worker had to reach. The host may terminate
    /// the worker at any time after the last answer, and does so after an answer that it rejects.
    private static func tail(of session: RecordedSession) -> Int {
        let isAnswer = { (event: BoundaryEvent) in
            if case .extensionCall(_, _, let function, _) = event { function.isAnswer } else { false }
        }
        switch session.ending {
        case .exited, .signalled: return .max
        case .finished:
            // Throttle notices need no answer, so they may follow the last answer.
            let notice = session.events.lastIndex {
                if case .hostCall(_, .didFinishThrottle, _, _) = $0 { true } else { false }
            }
            return max(session.events.lastIndex(where: isAnswer) ?? .max, notice ?? 0)
        case .endedByHost:
            let last = session.events.lastIndex {
                if case .hostCall(_, let kind, _, _) = $0 { kind.isRequest } else { false }
            }
            return session.events[(last ?? 0)...].firstIndex(where: isAnswer) ?? .max
        }
    }
}

/// The differences between two recordings of the same requests.
package struct RecordingComparison: Sendable {
    /// A call that differs.
    package struct Difference: Sendable, Hashable, CustomStringConvertible {
        /// The number of the session, starting at 1.
        package let session: Int
        /// The call, such as “request 1, reindex_all, call 3 (searchlight.log/1 log)”.
        package let call: String
        package let recorded: String
        package let replayed: String

        package var description: String { "session \(session), \(call): recorded \(recorded), replayed \(replayed)" }
    }

    /// The differences, in the order of the recording; at most one per lane.
    package private(set) var differences: [Difference] = []
    /// The number of calls that were compared.
    package private(set) var calls = 0

    /// `false` for a scrubbed recording, because its messages are placeholders.
    private let comparesMessages: Bool

    package init(_ recorded: CallRecording, _ replayed: CallRecording) {
        comparesMessages = !recorded.isScrubbed
        for (index, session) in recorded.sessions.enumerated() {
            guard index < replayed.sessions.count else {
                add(index, "the whole session", "\(session.events.count) events", "nothing")
                continue
            }
            compare(session, replayed.sessions[index], index)
        }
        if replayed.sessions.count > recorded.sessions.count {
            add(recorded.sessions.count, "the whole session", "nothing", "a further worker")
        }
    }

    private mutating func add(_ session: Int, _ call: String, _ recorded: String, _ replayed: String) {
        differences.append(Difference(session: session + 1, call: call, recorded: recorded, replayed: replayed))
    }

    private mutating func compare(_ recorded: RecordedSession, _ replayed: RecordedSession, _ session: Int) {
        let one = SessionTrace(recorded, comparesMessages: comparesMessages)
        let other = SessionTrace(replayed, comparesMessages: comparesMessages)
        var different: Set<String> = []
        for (lane, index) in one.order where !different.contains(lane) {
            guard let step = one.lanes[lane]?[index] else { continue }
            let counterparts = other.lanes[lane] ?? []
            let name = Self.name(lane, index, step)
            guard index < counterparts.count else {
                guard step.isRequired, !other.isTruncated, !other.isInterrupted(lane) else { continue }
                different.insert(lane)
                add(session, name, Self.text(step), "no such call")
                continue
            }
            calls += 1
            let counterpart = counterparts[index]
            if step.call != counterpart.call {
                different.insert(lane)
                add(session, name, Self.text(step), Self.text(counterpart))
            } else if let difference = Self.difference(step, counterpart) {
                different.insert(lane)
                add(session, name + " returns", difference.0, difference.1)
            }
        }
        for (lane, index) in other.order
        where !different.contains(lane) && !one.isOpen(lane) && !one.isInterrupted(lane) {
            guard index >= one.lanes[lane]?.count ?? 0, let step = other.lanes[lane]?[index], step.isRequired else {
                continue
            }
            different.insert(lane)
            add(session, Self.name(lane, index, step), "no such call", Self.text(step))
        }
        // The worker exited after the missing events.
        if recorded.ending != replayed.ending, !one.isTruncated, !other.isTruncated {
            add(session, "the end", recorded.ending.description, replayed.ending.description)
        }
    }

    private static func difference(
        _ one: SessionTrace.Step, _ other: SessionTrace.Step
    ) -> (String, String)? {
        if let recorded = one.result, let replayed = other.result {
            return recorded == replayed ? nil : (recorded.description, replayed.description)
        }
        // A call that returned in one run must have returned in the other, unless the worker was
        // terminated.
        guard (one.result == nil) != (other.result == nil), one.mustReturn, other.mustReturn else { return nil }
        return (one.result?.description ?? "never", other.result?.description ?? "never")
    }

    private static func name(_ lane: String, _ index: Int, _ step: SessionTrace.Step) -> String {
        guard case .extension(let function, _) = step.call else { return lane }
        return "\(lane), call \(index) (\(function.title))"
    }

    private static func text(_ step: SessionTrace.Step) -> String {
        switch step.call {
        case .host(let kind, let arguments):
            "\(kind.title)(\(arguments.map(\.description).joined(separator: ", ")))"
        case .extension(let function, let arguments):
            "\(function.name)(\(arguments.map(\.description).joined(separator: ", ")))"
        }
    }
}
