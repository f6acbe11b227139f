// SPDX-License-Identifier: Apache-2.0

/// A source of machine conditions: the sensors of the machine, or a script.
public protocol ConditionSource: Sendable {
    /// Starts the source. Call it once, before the other methods.
    ///
    /// - Parameter onChange: Called with the current conditions whenever they differ from those in
    ///   the last call; on any thread, one call at a time. Changes during a call are reported
    ///   together afterwards. Must not block.
    func start(onChange: @escaping @Sendable (Conditions) -> Void)
    /// Sets the sensing mode, which is initially `off`.
    func sense(_ mode: SchedulerAction.Sensing)
    /// Reads the values that do not report changes on their own. Changes are also reported to
    /// `onChange`.
    ///
    /// - Returns: The current conditions.
    @discardableResult
    func look() -> Conditions
}
