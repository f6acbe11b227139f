// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightEngine
import Synchronization

/// What all sessions of a service share.
final class ServiceCore: Sendable {
    let holder: EngineHolder
    /// The engine as clients ask it.
    let engine: SharedEngine
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
        self.flow = flow
        persons = InteractiveRequestCounter()
        engine = SharedEngine(holder: holder, activity: activity, persons: persons, flow: flow)
        calls = ClientCallHandler(control: control, engine: engine)
    }
}
