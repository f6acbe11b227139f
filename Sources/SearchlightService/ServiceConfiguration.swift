// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Glibc
import IdleScheduling
import SearchlightEngine
import SystemSupport

/// A service's configuration. The clock, the log and the notifications to systemd are injected, so
/// that tests can replace them.
package struct ServiceConfiguration: Sendable {
    /// The engine's configuration.
    package var engine: EngineConfiguration
    /// The service's limits.
    package var limits = ServiceLimits()
    /// The log.
    package var log: ServiceLog
    /// The clock for all timers and deadlines. With an ``EventLoop``'s clock, they are deadlines of
    /// that loop.
    package var clock: any Clock<Duration> = ContinuousClock()
    /// The user who runs the service.
    package var user: UInt32 = getuid()
    /// The reported version.
    package var version = Installation.version
    /// Returns `true` if the service should exit before it has started; see
    /// ``Daemon/requestStop()``.
    package var isStopWanted: @Sendable () -> Bool = { false }
    /// An inherited listening socket; `nil` to create one in the store's folder.
    package var inheritedSocket: OwnedDescriptor?
    /// The time without changes in extension folders that the service waits for before it searches
    /// them again.
    package var extensionQuiet = BundleWatch.standardQuiet
    /// The idle time after which the service exits by itself; `nil` for no limit.
    package var idleExit: Duration?
    /// The address of the session bus on which the service is also available; `nil` for none.
    package var sessionBus: String?
    /// The buses whose signals lock protected items: the system bus and the session bus; `nil` for
    /// none.
    package var lockBuses: (system: String?, session: String?) = (nil, nil)
    /// Called before a passphrase or a key is received. Makes the process overwrite memory that it
    /// frees from then on.
    package var wipesMemory: @Sendable () -> Void = {}
    /// `true` if an idle service releases memory and suspends libdispatch's pool monitor. Only for
    /// a process that does nothing else.
    package var rests = false
    /// Lowers or restores the priority of the whole process; returns `false` if the caller should
    /// try again soon. `nil` if the process is not dedicated to this service.
    package var setYielding: (@Sendable (Bool) -> Bool)?
    /// Sends a notification to systemd, like sd_notify(3).
    package var notify: @Sendable (String) -> Void = { _ in }
    /// systemd's watchdog timeout; `nil` if it has none.
    package var watchdog: Duration?
    /// The policy for background work.
    package var policy = SchedulingPolicy()
    /// Creates the source of the machine's conditions. Its parameter returns the process IDs whose
    /// load is caused by Searchlight itself. By default the conditions are unknown and have no
    /// effect.
    package var conditions: @Sendable (_ ownProcesses: @escaping @Sendable () -> [Int32]) -> any ConditionSource =
        { _ in UnknownConditions() }
    /// Identifies a client; injected so that tests can appear as another client.
    package var identify: @Sendable (OwnedDescriptor) throws(PeerIdentityError) -> ClientIdentity = ClientIdentity.init

    package init(engine: EngineConfiguration, log: ServiceLog) {
        self.engine = engine
        self.log = log
    }
}
