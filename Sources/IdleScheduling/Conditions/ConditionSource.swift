// SPDX-License-Identifier: Apache-2.0

/// Where conditions come from: the machine, or a script.
public protocol ConditionSource: Sendable {
    /// Says who is told of changes. To be called once, before anything else.
    ///
    /// - Parameter onChange: Called with what the machine is like now, whenever that is not what was told before; from any
    ///   thread, one call at a time. What changes during a call is told once after it. Must not block.
    func start(onChange: @escaping @Sendable (Conditions) -> Void)
    /// Sets how closely the machine is watched from now on; `off` at first.
    func sense(_ mode: SchedulerAction.Sensing)
    /// Reads at once what cannot tell by itself. Changes are told too, as all others.
    ///
    /// - Returns: What the machine is like now.
    @discardableResult
    func look() -> Conditions
}
