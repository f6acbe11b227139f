// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Synchronization

/// The machine's conditions, combined with the inhibitors that clients request from the service.
final class InhibitedConditions: ConditionSource {
    private struct State {
        var own: [UInt64: Conditions.Inhibitor] = [:]
        var last: UInt64 = 0
        var known = Conditions()
        var onChange: (@Sendable (Conditions) -> Void)?
    }
    private let state = Mutex(State())
    /// Held during a notification, so that older conditions are never reported after newer ones.
    private let telling = Mutex(())
    private let source: any ConditionSource

    /// The maximum number of inhibitors at a time.
    static let maximum = 64

    init(_ source: any ConditionSource) { self.source = source }

    func start(onChange: @escaping @Sendable (Conditions) -> Void) {
        state.withLock { $0.onChange = onChange }
        source.start { [weak self] conditions in
            self?.state.withLock { $0.known = conditions }
            self?.tell()
        }
    }

    func sense(_ mode: SchedulerAction.Sensing) { source.sense(mode) }

    func look() -> Conditions {
        let conditions = source.look()
        return state.withLock { state in
            state.known = conditions
            return Self.merged(state)
        }
    }

    /// Adds an inhibitor.
    ///
    /// - Returns: The inhibitor's number; `nil` if there are too many.
    func add(_ inhibitor: Conditions.Inhibitor) -> UInt64? {
        let number = state.withLock { state -> UInt64? in
            guard state.own.count < Self.maximum else { return nil }
            state.last += 1
            state.own[state.last] = inhibitor
            return state.last
        }
        if number != nil { tell() }
        return number
    }

    /// Removes an inhibitor.
    func remove(_ number: UInt64) {
        state.withLock { $0.own[number] = nil }
        tell()
    }

    private func tell() {
        telling.withLock { _ in
            let (handler, conditions) = state.withLock { ($0.onChange, Self.merged($0)) }
            handler?(conditions)
        }
    }

    private static func merged(_ state: State) -> Conditions {
        guard !state.own.isEmpty else { return state.known }
        var conditions = state.known
        conditions.inhibitors = (conditions.inhibitors + state.own.values).sorted()
        return conditions
    }
}
