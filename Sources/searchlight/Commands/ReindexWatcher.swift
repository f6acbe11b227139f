// SPDX-License-Identifier: Apache-2.0
import Dispatch
import CommandSupport
import ExtensionHost
import Previews
import Synchronization

/// Follows a reindex: counts, keeps what the extension says, and shows progress where somebody looks.
///
/// Events come on the engine's threads, which must not wait for a terminal: they are counted at once and shown by a
/// queue of their own.
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
        /// Whether the bundle's name stands above its messages.
        var hasHeading = false
        /// Lines that wait to be shown.
        var waiting = 0
        var progressIsWaiting = false
        /// How much the extension says is done, in percent.
        var progress: Int?
    }
    private let state = Mutex(State())
    private let display = DispatchQueue(label: "com.searchlight.reindex.display")
    private let isQuiet: Bool
    private let isVerbose: Bool

    /// So many messages of an extension are shown without --verbose, the last one besides.
    private static let shownMessages = 10
    /// So many messages are kept for the report, with the last one.
    private static let keptMessages = 1000
    /// So many may wait to be shown; what comes while a terminal is so far behind is only counted.
    private static let waitingMessages = 1000
    /// The most that is kept of a message, in characters.
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

    /// Takes an event. May be called from any thread; never blocks.
    func take(_ event: ExtensionEvent) {
        // An update is about one bundle after the other.
        if state.withLock({ $0.bundle != event.bundle }) { begin(event.bundle) }
        switch event {
        case .started, .confined, .libraryMemory: break
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
                // A new worker begins from the beginning.
                state.donated = 0
            }
            let text = Output.tidied(error.description)
            // What it said before ends with a line of its own.
            let separator = text.contains("\n") ? "\n  " : " "
            message(text + separator + "Trying once more in a fresh worker.", always: true)
        case .progress(_, let completed, let total):
            state.withLock { $0.progress = total == 0 ? nil : Int(Double(completed) / Double(total) * 100) }
            showProgress()
        case .misuse(_, let rule, let text):
            message("(\(rule.rawValue)) " + DisplayText.line(text, limit: Self.messageLength), always: false)
        case .setAside(_, let item, let reason):
            let name = DisplayText.line(item, limit: Self.messageLength)
            message("Set the item \(name) aside: the extension \(reason).", always: true)
        case .quarantined(_, let reason):
            message("In quarantine from now on: it \(Output.tidied(reason)).", always: true)
        case .healthNotKept(_, let path, let reason):
            message("How it behaves could not be written to \(path): \(reason).", always: true)
        }
    }

    private func showProgress() {
        guard !isQuiet, Output.showsProgress else { return }
        // One that waits will show the newest count when its turn comes.
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

    /// Ends the watch over a bundle: waits until all of it is shown, and the extension's last message in any case.
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
