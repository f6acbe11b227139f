// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Synchronization

/// The events that an extension caused during checks, counted and limited in number. May be used
/// from any thread.
final class EventRecord: Sendable {
    /// An event that may occur repeatedly.
    struct Sighting: Sendable {
        /// The check in which the event first occurred.
        var check: ValidationCheck
        var text: String
        var count: Int
        /// The remedy for a sandbox denial.
        var remedy: SandboxRefusal.Remedy?
        /// The count in words.
        var times: String { count == 1 ? "once" : "\(count) times" }

        /// `true` if the event is a second answer to a request.
        var isSecondAnswer: Bool { text.hasPrefix("answeredTwice") }
    }

    private struct State {
        var processes: [Int32] = []
        var lines = 0
        var lastLines: [String] = []
        var crashes: [ExtensionError] = []
        var misuses: [String: Sighting] = [:]
        var refusals: [String: Sighting] = [:]
        var libraryMemory: Int64?
    }
    private let state = Mutex(State())
    let check: ValidationCheck
    /// The record for all checks, to which misuses and denials are also added.
    private let whole: EventRecord?
    private let onLine: @Sendable (ValidationCheck, String) -> Void

    /// The maximum number of different misuses and denials.
    private static let maximumSightings = 100
    private static let keptLines = 5

    /// Creates an empty record.
    ///
    /// - Parameter onLine: Called with each line that the extension prints or logs.
    init(
        _ check: ValidationCheck, partOf whole: EventRecord? = nil,
        onLine: @escaping @Sendable (ValidationCheck, String) -> Void = { _, _ in }
    ) {
        self.check = check
        self.whole = whole
        self.onLine = onLine
    }

    /// The process IDs of the workers, in the order in which they were started.
    var processes: [Int32] { state.withLock { $0.processes } }
    /// The number of printed and logged lines.
    var lines: Int { state.withLock { $0.lines } }
    /// The last few lines.
    var lastLines: [String] { state.withLock { $0.lastLines } }
    /// The crashes from which the host recovered.
    var crashes: [ExtensionError] { state.withLock { $0.crashes } }
    /// The broken rules, sorted by text.
    var misuses: [Sighting] { state.withLock { $0.misuses.values.sorted { $0.text < $1.text } } }
    /// The number of heap bytes that bound libraries hold; `nil` if it is not counted.
    var libraryMemory: Int64? { state.withLock { $0.libraryMemory } }
    /// The sandbox denials, as sentences without a full stop.
    var refusals: [Sighting] { state.withLock { $0.refusals.values.sorted { $0.text < $1.text } } }

    func take(_ event: ExtensionEvent) {
        switch event {
        case .started(_, let process): state.withLock { $0.processes.append(process) }
        case .output(_, let line), .log(_, _, let line): take(line: line)
        case .retrying(_, let error) where error.isConsequence: break
        case .retrying(_, let error): state.withLock { $0.crashes.append(error) }
        case .refusal(_, let refusal): noteRefusal(refusal)
        case .libraryMemory(_, let kept): state.withLock { $0.libraryMemory = kept }
        case .misuse(_, let rule, let message): noteMisuse("\(rule.rawValue): \(message)")
        default: break
        }
    }

    private func take(line: String) {
        state.withLock { state in
            state.lines += 1
            state.lastLines.append(line)
            if state.lastLines.count > Self.keptLines { state.lastLines.removeFirst() }
        }
        onLine(check, line)
    }

    /// Records a broken rule.
    func noteMisuse(_ text: String, during check: ValidationCheck? = nil) {
        let check = check ?? self.check
        state.withLock { Self.note(text, check, 1, in: &$0.misuses) }
        whole?.noteMisuse(text, during: check)
    }

    /// Records a sandbox denial.
    func noteRefusal(_ refusal: SandboxRefusal, during check: ValidationCheck? = nil) {
        let check = check ?? self.check
        state.withLock {
            Self.note("It \(refusal.description)", check, refusal.count, remedy: refusal.whatToDo, in: &$0.refusals)
        }
        whole?.noteRefusal(refusal, during: check)
    }

    private static func note(
        _ text: String, _ check: ValidationCheck, _ count: Int, remedy: SandboxRefusal.Remedy? = nil,
        in sightings: inout [String: Sighting]
    ) {
        let text = String(text.prefix(500))
        if sightings[text] == nil, sightings.count >= maximumSightings { return }
        sightings[text, default: Sighting(check: check, text: text, count: 0, remedy: remedy)].count += count
    }
}
