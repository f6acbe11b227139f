// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// The service manager, if this program was started by one (sd_notify(3), sd_watchdog_enabled(3)).
struct ServiceManager {
    private let isThere: Bool
    /// How long it waits for a sign of life.
    let watchdog: Duration?

    init(environment: [String: String]) {
        isThere = environment["NOTIFY_SOCKET"] != nil
        var microseconds: UInt64 = 0
        watchdog =
            sd_watchdog_enabled(0, &microseconds) > 0 && microseconds > 0
            ? .microseconds(Int64(clamping: microseconds)) : nil
    }

    /// Says something; one that is not there is told nothing.
    var notify: @Sendable (String) -> Void {
        guard isThere else { return { _ in } }
        return { _ = sd_notify(0, $0) }
    }
}
