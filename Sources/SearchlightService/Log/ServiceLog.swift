// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What the service writes down: one line for each event, through one place. May be used from any thread.
///
/// What others cause is written with their ``LogAllowance`` and that of all of them together, so that nobody can fill a
/// disk; how much was left out is written when there is room again.
package final class ServiceLog: Sendable {
    /// How grave an event is, as syslog(3) counts.
    package enum Level: Int, Sendable {
        /// Something that was asked for was not done.
        case error = 3
        /// Something is not as it should be.
        case warning = 4
        /// What a person may want to know of an ordinary day.
        case notice = 5
        /// What helps who looks for a fault.
        case info = 6
    }
    /// Writes one line.
    package typealias Sink = @Sendable (Level, String) -> Void

    /// The longest line, in Unicode scalars.
    static let maximumScalars = 1000

    private let sink: Sink
    private let shared: LogAllowance

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - now: The time since some beginning.
    ///   - sink: Writes a line; called from any thread.
    package init(now: @escaping @Sendable () -> Duration = ServiceLog.uptime, sink: @escaping Sink) {
        self.sink = sink
        self.now = now
        shared = LogAllowance(burst: 400, refill: .milliseconds(100), now: now)
    }

    private let now: @Sendable () -> Duration

    /// Writes what the service itself does.
    package func write(_ level: Level, _ message: String) { sink(level, Self.line(message)) }

    /// An allowance for one peer or extension.
    func allowance() -> LogAllowance { LogAllowance(burst: 20, refill: .seconds(3), now: now) }

    /// Writes what a peer causes, if it and all together may.
    func write(_ level: Level, _ allowance: LogAllowance, _ message: @autoclosure () -> String) {
        guard let left = allowance.take(), let leftByAll = shared.take() else { return }
        let omitted = left + leftByAll
        sink(level, Self.line(message() + (omitted > 0 ? " (\(omitted) lines were left out before)" : "")))
    }

    /// One line of text: what others sent may hold line ends and codes for terminals.
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

    /// How long the machine has run.
    package static let uptime: @Sendable () -> Duration = {
        ContinuousClock.now - uptimeBase
    }
    private static let uptimeBase = ContinuousClock.now
}

/// How many lines somebody may still cause: some at once, then one after each pause.
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

    /// Takes one line: how many were left out before it; `nil` if it is to be left out.
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
