// SPDX-License-Identifier: Apache-2.0
import Dispatch
import CommandSupport
import ExtensionHost
import Previews
import Synchronization

/// Follows a reindex: counts items, collects the extension's messages, and shows progress on a
/// terminal.
///
/// Events arrive on the engine's threads, which must not block on a terminal. They are counted
/// immediately, and displayed by a serial queue.
final class ReindexWatcher: Sendable {
    private struct State {
        var bundle = ""
        var donated = 0
        var retries = 0
        var messages: [String] = []
        var last: String?
        var said = 0
        var shown = 0
        var lastIsShown = false
        /// `true` if the bundle's name was already printed above its messages.
        var hasHeading = false
        /// The number of lines that are waiting to be shown.
        var waiting = 0
        var progressIsWaiting = false
        /// The progress reported by the extension, in percent.
        var progress: Int?
    }
    private let state = Mutex(State())
    private let display = DispatchQueue(label: "com.searchlight.reindex.display")
    private let isQuiet: Bool
    private let isVerbose: Bool

    /// The number of messages shown without --verbose, in addition to the last one.
    private static let shownMessages = 10
    /// The number of messages kept for the report, in addition to the last one.
    private static let keptMessages = 1000
    /// The maximum number of lines waiting for the terminal. Further messages are only counted.
    private static let waitingMessages = 1000
    /// The maximum length of a kept message, in characters.
    private static let messageLength = 1000

    init(isQuiet: Bool, isVerbose: Bool) {
        self.isQuiet = isQuiet
        self.isVerbose = isVerbose
    }

    func begin(_ bundle: String) {
        state.withLock { state in
            state = State()
            state.bundle = bundle
        }
    }

    /// Processes an event. May be called from any thread; never blocks.
    func take(_ event: ExtensionEvent) {
        // An update covers one bundle after another.
        if state.withLock({ $0.bundle != event.bundle }) { begin(event.bundle) }
        switch event {
        // The account at the end includes the omissions.
        case .started, .confined, .libraryMemory, .leftOut: break
        case .refusal(let bundle, let refusal):
            let text = "The sandbox refused: \(bundle) \(refusal.description)\(refusal.advice)"
            message(Output.tidied(text), always: false)
        case .donated(_, let count):
            state.withLock { $0.donated += count }
            showProgress()
        case .output(_, let line), .log(_, _, let line):
            message(DisplayText.line(line, limit: Self.messageLength), always: false)
        case .retrying(_, let error):
            state.withLock { state in
                state.retries += 1
                // A new worker starts over.
                state.donated = 0
            }
            let text = Output.tidied(error.description)
            // The worker's output may have several lines; the note then starts on a new line.
            let separator = text.contains("\n") ? "\n  " : " "
            message(text + separator + "Retrying once in a new worker.", always: true)
        case .progress(_, let completed, let total):
            state.withLock { $0.progress = total == 0 ? nil : Int(Double(completed) / Double(total) * 100) }
            showProgress()
        case .misuse(_, let rule, let text):
            message("(\(rule.rawValue)) " + DisplayText.line(text, limit: Self.messageLength), always: false)
        case .setAside(_, let item, let reason):
            let name = DisplayText.line(item, limit: Self.messageLength)
            message("The item \(name) is skip-listed: the extension \(reason).", always: true)
        case .quarantined(_, let reason):
            message("The extension is in quarantine: it \(Output.tidied(reason)).", always: true)
        case .healthNotKept(_, let path, let reason):
            message("Writing the health of the extension to \(path) failed: \(reason).", always: true)
        }
    }

    private func showProgress() {
        guard !isQuiet, Output.showsProgress else { return }
        // A queued update of the progress line will display the newest count.
        let isWaiting = state.withLock { state in
            defer { state.progressIsWaiting = true }
            return state.progressIsWaiting
        }
        guard !isWaiting else { return }
        display.async { [self] in
            let (bundle, donated, progress) = state.withLock { state in
                state.progressIsWaiting = false
                return (state.bundle, state.donated, state.progress)
            }
            Output.progress("\(bundle): \(counted(donated, "item"))\(progress.map { ", \($0) %" } ?? "")…")
        }
    }

    private func message(_ text: String, always: Bool) {
        let isShown = state.withLock { state in
            state.said += 1
            if state.messages.count < Self.keptMessages - 1 { state.messages.append(text) }
            state.last = text
            let isWanted = always || isVerbose || state.shown < Self.shownMessages
            state.lastIsShown = !isQuiet && isWanted && state.waiting < Self.waitingMessages
            if state.lastIsShown {
                state.shown += 1
                state.waiting += 1
            }
            return state.lastIsShown
        }
        guard isShown else { return }
        display.async { [self] in
            state.withLock { $0.waiting -= 1 }
            show(text)
        }
    }

    private func show(_ text: String) {
        if Output.showsProgress { Output.progress(nil) }
        let heading = state.withLock { state in
            defer { state.hasHeading = true }
            return state.hasHeading ? nil : state.bundle
        }
        if let heading { Output.complain("\(heading):") }
        Output.complain("  \(text: text)")
    }

    /// Stops watching a bundle: waits until all lines are shown, including the extension's last
    /// message.
    func report(_ bundle: String, items: Int?, after duration: Duration, error: (any CustomStringConvertible)?)
        -> ReindexReport
    {
        let state = display.sync { self.state.withLock { $0 } }
        if !isQuiet {
            if Output.showsProgress { Output.progress(nil) }
            let hidden = state.said - state.shown - (state.lastIsShown ? 0 : 1)
            if hidden > 0 {
                let hint = isVerbose ? "" : " (--verbose shows \(hidden == 1 ? "it" : "them"))"
                show("… and \(counted(hidden, "more message"))\(hint)")
            }
            if let last = state.last, !state.lastIsShown { show(last) }
        }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
        var messages = state.messages
        if state.said > messages.count, let last = state.last { messages.append(last) }
        return ReindexReport(
            bundle: bundle, items: items, donated: state.donated, retries: state.retries,
            seconds: (seconds * 1000).rounded() / 1000, messages: messages,
            droppedMessages: state.said - messages.count, error: error.map { Output.tidied($0.description) })
    }
}
