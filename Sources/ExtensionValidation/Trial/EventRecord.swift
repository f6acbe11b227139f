// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Synchronization

/// What was seen of an extension while it was checked, counted and bounded. Safe from any thread.
final class EventRecord: Sendable {
    /// Something that happened any number of times.
    struct Sighting: Sendable {
        /// During which check it was first seen.
        var check: ValidationCheck
        var text: String
        var count: Int
        /// What somebody can do about what the sandbox refused.
        var remedy: SandboxRefusal.Remedy?
        /// How often it was seen, in words.
        var times: String { count == 1 ? "once" : "\(count) times" }

        /// Whether it is an answer to a request that had been answered.
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
    /// Where misuses and refusals are noted too, for the checks that judge the others.
    private let whole: EventRecord?
    private let onLine: @Sendable (ValidationCheck, String) -> Void

    /// The most different misuses and refusals that are told apart.
    private static let maximumSightings = 100
    private static let keptLines = 5

    /// - Parameter onLine: Told each line that the extension prints or logs.
    init(
        _ check: ValidationCheck, partOf whole: EventRecord? = nil,
        onLine: @escaping @Sendable (ValidationCheck, String) -> Void = { _, _ in }
    ) {
        self.check = check
        self.whole = whole
        self.onLine = onLine
    }

    /// The numbers of the worker processes that were started, in order.
    var processes: [Int32] { state.withLock { $0.processes } }
    /// How many lines were printed and logged.
    var lines: Int { state.withLock { $0.lines } }
    /// Some of the last lines.
    var lastLines: [String] { state.withLock { $0.lastLines } }
    /// The crashes that the host got over.
    var crashes: [ExtensionError] { state.withLock { $0.crashes } }
    /// The rules that were broken, in the order of their words.
    var misuses: [Sighting] { state.withLock { $0.misuses.values.sorted { $0.text < $1.text } } }
    /// What bound libraries keep of the heap in bytes; `nil` if it is not counted.
    var libraryMemory: Int64? { state.withLock { $0.libraryMemory } }
    /// What the sandbox refused, as sentences without their full stop.
    var refusals: [Sighting] { state.withLock { $0.refusals.values.sorted { $0.text < $1.text } } }

    func take(_ event: ExtensionEvent) {
        switch event {
        case .started(_, let process): state.withLock { $0.processes.append(process) }
        case .output(_, let line), .log(_, _, let line): take(line: line)
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

    /// Notes that a rule was broken.
    func noteMisuse(_ text: String, during check: ValidationCheck? = nil) {
        let check = check ?? self.check
        state.withLock { Self.note(text, check, 1, in: &$0.misuses) }
        whole?.noteMisuse(text, during: check)
    }

    /// Notes that the sandbox refused something.
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
