// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Glibc
import IdleScheduling
import SearchlightEngine
import SystemSupport

/// How a service runs. Clock, log and the word to the service manager come from outside, so that tests bring their own.
package struct ServiceConfiguration: Sendable {
    /// Where the engine finds things.
    package var engine: EngineConfiguration
    /// What bounds the service.
    package var limits = ServiceLimits()
    /// What it writes down.
    package var log: ServiceLog
    /// Measures all timers and deadlines of the service. With the clock of an ``EventLoop``, they are deadlines of that loop.
    package var clock: any Clock<Duration> = ContinuousClock()
    /// Whose service this is.
    package var user: UInt32 = getuid()
    /// The version it tells.
    package var version = Installation.version
    /// Whether it is to end, told before it has begun; see ``Daemon/requestStop()``.
    package var isStopWanted: @Sendable () -> Bool = { false }
    /// A listening socket that was handed over; without one the service makes its own in the store's folder.
    package var inheritedSocket: OwnedDescriptor?
    /// How long nothing may change about extensions before they are looked at.
    package var extensionQuiet = BundleWatch.standardQuiet
    /// How long nothing may be connected or under way before it ends by itself; `nil` for ever.
    package var idleExit: Duration?
    /// The address of the session bus on which it answers, too; `nil` for none.
    package var sessionBus: String?
    /// Whether an idle service gives memory back and suspends libdispatch's pool monitor; only for a process that does nothing else.
    package var rests = false
    /// Has the whole process yield to all others, or be like them; `false` to be asked again soon. `nil` where it is not this
    /// service's alone.
    package var setYielding: (@Sendable (Bool) -> Bool)?
    /// Says something to the service manager, as sd_notify(3).
    package var notify: @Sendable (String) -> Void = { _ in }
    /// How long the service manager waits for a sign of life, if it does.
    package var watchdog: Duration?
    /// When what is owed is done.
    package var policy = SchedulingPolicy()
    /// Makes what says what the machine is like, given the processes whose use of it is Searchlight's own. By default nothing
    /// is known of it, and then it does not matter.
    package var conditions: @Sendable (_ ownProcesses: @escaping @Sendable () -> [Int32]) -> any ConditionSource =
        { _ in UnknownConditions() }
    /// Who connected; injected so that tests can be somebody else.
    package var identify: @Sendable (OwnedDescriptor) throws(PeerIdentityError) -> ClientIdentity = ClientIdentity.init

    package init(engine: EngineConfiguration, log: ServiceLog) {
        self.engine = engine
        self.log = log
    }
}
