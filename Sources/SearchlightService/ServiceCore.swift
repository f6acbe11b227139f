// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightEngine
import Synchronization

/// What all sessions of a service share.
final class ServiceCore: Sendable {
    let holder: EngineHolder
    let limits: ServiceLimits
    let log: ServiceLog
    let clock: any Clock<Duration>
    /// Whose service this is.
    let user: UInt32
    let version: String
    /// Which connections of each app donated when.
    let donationOrder = DonationOrder()
    /// What donations are in flight.
    let flow: FlowControl
    let activity: ServiceActivity
    /// What is written down of those who never say who they are.
    let strangers: LogAllowance
    /// What the service does of its own, such as asking a registered app for what is owed.
    let background = SessionTasks(maximum: 64)
    /// Who waits for drags and previews.
    let persons: InteractiveRequestCounter
    /// What commands ask.
    let calls: ClientCallHandler
    let process = UInt64(getpid())

    init(
        holder: EngineHolder, limits: ServiceLimits, log: ServiceLog, clock: any Clock<Duration>, user: UInt32,
        version: String, activity: ServiceActivity, flow: FlowControl, control: ServiceControl
    ) {
        self.holder = holder
        self.limits = limits
        self.log = log
        strangers = log.allowance()
        self.clock = clock
        self.user = user
        self.version = version
        self.activity = activity
        let persons = InteractiveRequestCounter()
        self.persons = persons
        calls = ClientCallHandler(
            control: control, engine: LeasedEngine(holder: holder, activity: activity, persons: persons))
        self.flow = flow
    }
}
