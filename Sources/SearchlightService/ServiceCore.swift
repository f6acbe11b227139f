// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightEngine
import Synchronization

/// The parts of a service that all sessions share.
final class ServiceCore: Sendable {
    let holder: EngineHolder
    /// The access of clients to the engine.
    let engine: SharedEngine
    let limits: ServiceLimits
    let log: ServiceLog
    let clock: any Clock<Duration>
    /// The user of the service.
    let user: UInt32
    let version: String
    /// The order of donations over several connections of an app.
    let donationOrder = DonationOrder()
    /// The donations in flight.
    let flow: FlowControl
    let activity: ServiceActivity
    /// The log allowance of clients that never identify themselves.
    let strangers: LogAllowance
    /// The service's own requests, such as pending work of a registered app.
    let background = SessionTasks(maximum: 64)
    /// The number of drags and previews that a user waits for.
    let persons: InteractiveRequestCounter
    /// The handler of calls from commands.
    let calls: ClientCallHandler
    /// The running apps that take activities.
    let activities: ActivityHandlers
    let process = UInt64(getpid())

    init(
        holder: EngineHolder, limits: ServiceLimits, log: ServiceLog, clock: any Clock<Duration>, user: UInt32,
        version: String, activity: ServiceActivity, activities: ActivityHandlers, flow: FlowControl,
        control: ServiceControl
    ) {
        self.activities = activities
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
