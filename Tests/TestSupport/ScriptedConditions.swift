// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Synchronization

/// Conditions that a test sets. May be used from any thread.
public final class ScriptedConditions: ConditionSource {
    private struct State {
        var conditions: Conditions
        var handler: (@Sendable (Conditions) -> Void)?
        var modes: [SchedulerAction.Sensing] = []
        var looks = 0
    }
    private let state: Mutex<State>

    public init(_ conditions: Conditions = Conditions()) { state = Mutex(State(conditions: conditions)) }

    public func start(onChange: @escaping @Sendable (Conditions) -> Void) { state.withLock { $0.handler = onChange } }

    public func sense(_ mode: SchedulerAction.Sensing) { state.withLock { $0.modes.append(mode) } }

    public func look() -> Conditions {
        state.withLock { state in
            state.looks += 1
            return state.conditions
        }
    }

    /// Changes the conditions and calls the handler, unless sensing is off.
    public func change(_ body: (inout Conditions) -> Void) {
        let (handler, conditions) = state.withLock { state in
            body(&state.conditions)
            return (state.modes.last ?? .off == .off ? nil : state.handler, state.conditions)
        }
        handler?(conditions)
    }

    /// The requested sensing modes, in order.
    public var modes: [SchedulerAction.Sensing] { state.withLock { $0.modes } }

    /// The number of samples taken.
    public var looks: Int { state.withLock { $0.looks } }
}
