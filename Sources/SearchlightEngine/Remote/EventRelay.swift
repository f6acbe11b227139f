// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Synchronization

/// A batch of events from a running call.
struct EventMessage: Codable, Sendable {
    /// The number of the call.
    var number: UInt64
    var events: [ExtensionEvent]
}

/// Sends a call's events to its client. It sends a message only after the reply to the previous
/// message, so that a slow client uses bounded memory.
final class EventRelay: Sendable {
    /// Sends one message and returns after the reply to it.
    typealias Sender = @Sendable (EventMessage) async -> Void

    private static let maximumPerMessage = 64
    /// The maximum number of queued events. Further events are only counted.
    private static let maximumWaiting = 10_000
    /// The maximum length of a sent text, in Unicode scalars. It is more than the command shows.
    private static let maximumScalars = 8000

    private struct State {
        var waiting: [ExtensionEvent] = []
        /// The number of lines that were dropped while the queue was full.
        var skipped = 0
        var bundle = ""
        var task: Task<Void, Never>?
    }
    private let state = Mutex(State())
    private let number: UInt64
    private let send: Sender

    init(number: UInt64, send: @escaping Sender) { (self.number, self.send) = (number, send) }

    /// Queues an event. May be called from any thread; never blocks.
    func take(_ event: ExtensionEvent) {
        // Clients read the bundle's account instead.
        if case .leftOut = event { return }
        state.withLock { state in
            if case .donated(let bundle, let count) = event, case .donated(bundle, let before)? = state.waiting.last {
                state.waiting[state.waiting.count - 1] = .donated(bundle: bundle, count: before + count)
            } else if state.waiting.count < Self.maximumWaiting || event.isProgress {
                state.waiting.append(event.shortened(to: Self.maximumScalars))
            } else {
                (state.skipped, state.bundle) = (state.skipped + 1, event.bundle)
            }
            if state.task == nil { state.task = Task { await self.run() } }
        }
    }

    /// Returns after all messages have been replied to.
    func finish() async { while let task = state.withLock({ $0.task }) { await task.value } }

    private func run() async {
        while let events = next() { await send(EventMessage(number: number, events: events)) }
    }

    private func next() -> [ExtensionEvent]? {
        state.withLock { state in
            if state.waiting.isEmpty, state.skipped > 0 {
                let line = "(\(state.skipped) lines were skipped: the command did not keep up)"
                state.waiting = [.output(bundle: state.bundle, line: line)]
                state.skipped = 0
            }
            guard !state.waiting.isEmpty else {
                state.task = nil
                return nil
            }
            let events = Array(state.waiting.prefix(Self.maximumPerMessage))
            state.waiting.removeFirst(events.count)
            return events
        }
    }
}

extension ExtensionEvent {
    /// `true` if the command's counts depend on the event, so that it must not be dropped.
    fileprivate var isProgress: Bool {
        switch self {
        case .donated, .retrying, .setAside, .quarantined: true
        case .started, .output, .log, .progress, .misuse, .healthNotKept, .confined, .refusal, .libraryMemory,
            .leftOut:
            false
        }
    }

    fileprivate func shortened(to limit: Int) -> ExtensionEvent {
        func short(_ text: String) -> String {
            text.utf8.count <= limit ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit)))
        }
        return switch self {
        case .output(let bundle, let line): .output(bundle: bundle, line: short(line))
        case .log(let bundle, let level, let message): .log(bundle: bundle, level: level, message: short(message))
        case .misuse(let bundle, let rule, let message): .misuse(bundle: bundle, rule: rule, message: short(message))
        case .setAside(let bundle, let item, let reason):
            .setAside(bundle: bundle, item: short(item), reason: short(reason))
        case .quarantined(let bundle, let reason): .quarantined(bundle: bundle, reason: short(reason))
        case .healthNotKept(let bundle, let path, let reason):
            .healthNotKept(bundle: bundle, path: short(path), reason: short(reason))
        case .refusal(let bundle, let refusal):
            .refusal(
                bundle: bundle,
                SandboxRefusal(
                    refusal.kind, short(refusal.detail), count: refusal.count, remedy: refusal.remedy))
        case .started, .donated, .retrying, .progress, .confined, .libraryMemory, .leftOut: self
        }
    }
}
