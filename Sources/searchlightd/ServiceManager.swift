// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// The service manager that started this program, if there is one (sd_notify(3),
/// sd_watchdog_enabled(3)).
struct ServiceManager {
    private let isThere: Bool
    /// The watchdog timeout; `nil` if the watchdog is off.
    let watchdog: Duration?

    init(environment: [String: String]) {
        isThere = environment["NOTIFY_SOCKET"] != nil
        var microseconds: UInt64 = 0
        watchdog =
            sd_watchdog_enabled(0, &microseconds) > 0 && microseconds > 0
            ? .microseconds(Int64(clamping: microseconds)) : nil
    }

    /// Sends a notification; does nothing without a service manager.
    var notify: @Sendable (String) -> Void {
        guard isThere else { return { _ in } }
        return { _ = sd_notify(0, $0) }
    }
}
