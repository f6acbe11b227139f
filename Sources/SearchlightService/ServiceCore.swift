// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightEngine
import Synchronization

/// The parts of a service that all sessions share.
final class ServiceCore: Sendable {
    let holder: EngineHolder
    /// The clients' access to the engine.
    let engine: SharedEngine
    let limits: ServiceLimits
    let log: ServiceLog
    let clock: any Clock<Duration>
    /// The user who runs the service.
    let user: UInt32
    let version: String
    /// The order of donations over an app's connections.
    let donationOrder = DonationOrder()
    /// The donations in flight.
    let flow: FlowControl
    let activity: ServiceActivity
    /// The log allowance for clients that never identify themselves.
    let strangers: LogAllowance
    /// The service's own requests, such as requests for the pending work of a registered app.
    let background = SessionTasks(maximum: 64)
    /// Counts the drags and previews that a user is waiting for.
    let persons: InteractiveRequestCounter
    /// The handler for calls from commands.
    let calls: ClientCallHandler
    /// The running apps that accept activities.
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
