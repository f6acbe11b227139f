// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The service's log, with one line for each event. May be used from any thread.
///
/// Lines that clients or extensions cause count against their ``LogAllowance`` and against a shared
/// allowance, so that they cannot fill the disk. The next line that is written states the number of
/// dropped lines.
package final class ServiceLog: Sendable {
    /// The severity of a line, as in syslog(3).
    package enum Level: Int, Sendable {
        /// A request failed.
        case error = 3
        /// A problem that needs attention.
        case warning = 4
        /// A normal event of interest to the user.
        case notice = 5
        /// Details for troubleshooting.
        case info = 6
    }
    /// Writes one line.
    package typealias Sink = @Sendable (Level, String) -> Void

    /// The maximum length of a line in Unicode scalars.
    static let maximumScalars = 1000

    private let sink: Sink
    private let shared: LogAllowance

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - now: Returns the time since an arbitrary start.
    ///   - sink: Writes a line; called from any thread.
    package init(now: @escaping @Sendable () -> Duration = ServiceLog.uptime, sink: @escaping Sink) {
        self.sink = sink
        self.now = now
        shared = LogAllowance(burst: 400, refill: .milliseconds(100), now: now)
    }

    private let now: @Sendable () -> Duration

    /// Writes a line on the service's own behalf.
    package func write(_ level: Level, _ message: String) { sink(level, Self.line(message)) }

    /// Creates an allowance for one peer or extension.
    func allowance() -> LogAllowance { LogAllowance(burst: 20, refill: .seconds(3), now: now) }

    /// Writes a line caused by a peer, if its allowance and the shared allowance permit it.
    func write(_ level: Level, _ allowance: LogAllowance, _ message: @autoclosure () -> String) {
        guard let left = allowance.take(), let leftByAll = shared.take() else { return }
        let omitted = left + leftByAll
        sink(level, Self.line(message() + (omitted > 0 ? " (\(omitted) lines were omitted before)" : "")))
    }

    /// Returns the message as a single line. Text from peers may contain line ends and terminal
    /// control codes.
    private static func line(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(maximumScalars) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                line.append(" ")
            default: line.append(scalar)
            }
        }
        if text.unicodeScalars.count > maximumScalars { line.append("…") }
        return String(line)
    }

    /// Returns the time since this log was first used in the process.
    package static let uptime: @Sendable () -> Duration = {
        ContinuousClock.now - uptimeBase
    }
    private static let uptimeBase = ContinuousClock.now
}

/// A token bucket for log lines: a burst of lines, then one line after each refill time.
final class LogAllowance: Sendable {
    private struct State {
        var tokens: Double
        var last: Duration
        var omitted = 0
    }
    private let state: Mutex<State>
    private let burst: Double
    private let refill: Duration
    private let now: @Sendable () -> Duration

    init(burst: Int, refill: Duration, now: @escaping @Sendable () -> Duration) {
        self.burst = Double(burst)
        self.refill = refill
        self.now = now
        state = Mutex(State(tokens: Double(burst), last: now()))
    }

    /// Takes a token.
    ///
    /// - Returns: The number of lines dropped before this one; `nil` if this line must be dropped.
    func take() -> Int? {
        let now = now()
        return state.withLock { state in
            state.tokens = min(burst, state.tokens + (now - state.last) / refill)
            state.last = now
            guard state.tokens >= 1 else {
                state.omitted += 1
                return nil
            }
            state.tokens -= 1
            defer { state.omitted = 0 }
            return state.omitted
        }
    }
}
