// SPDX-License-Identifier: Apache-2.0

/// A condition that prevents a job from running.
///
/// A gate consists of its case here and its row in ``traits``. Gates are shown in the order of the
/// cases.
public enum Gate: UInt8, Hashable, Sendable, CaseIterable {
    // Gates that belong to the job or its extension. Only their own condition opens them.

    /// The user disabled the extension.
    case disabled
    /// The extension crashed too often.
    case quarantined
    /// The user locked the encrypted items.
    case locked
    /// The job failed, and its back-off has not ended yet.
    case backOff
    /// The user throttled the extension (`searchlight throttle`).
    case throttled
    /// The extension has used up its quota of processor time.
    case cpuQuota
    /// The extension has used up its quota of written bytes.
    case writeQuota
    /// The user cancelled the job, which waits for several hours.
    case cancelled
    /// Another job is running.
    case busy
    /// A low-rate slice, or a pause after one, is not over. The next slice starts later.
    case dutyCycle
    /// Fresh work has used up its share of processor time for passing gates.
    case freshPace

    // Gates that belong to the machine.

    /// No work was pending, so the sensors were off. The conditions are now being read.
    case unknownConditions
    /// The user is waiting for another request to Searchlight.
    case personWaiting
    /// The machine is about to sleep.
    case asleep
    /// The machine has just resumed from sleep.
    case justResumed
    /// A program has requested that no new background work start.
    case inhibited
    /// The user is active at the machine.
    case userActive
    /// The machine is running on a battery that is nearly empty.
    case batteryLow
    /// The machine is running on battery power.
    case onBattery
    /// The user has chosen to save power.
    case powerSaver
    /// The machine is hot.
    case hot
    /// Other programs are using the processors.
    case cpuBusy
    /// Tasks are stalled on the processors.
    case cpuPressure
    /// Tasks are stalled on disk I/O.
    case ioPressure
    /// Tasks are stalled on memory.
    case memoryPressure
    /// The store's disk is nearly full.
    case diskFloor
}

extension Gate {
    /// The kind of cause behind a gate. It determines the colour in a plot, and the reason reported
    /// to an extension.
    public enum Cause: Sendable {
        /// The user is active or waiting.
        case user
        /// Power saving.
        case power
        /// Other work on the machine.
        case load
        /// The machine sleeps.
        case sleep
        /// A request by the user.
        case request
        /// Any other cause.
        case other
    }

    /// The changes that the configuration may make to a gate.
    enum Rule: Sendable {
        /// Not at all: the gate always applies.
        case fixed
        /// The configuration may disable the gate.
        case switchable
        /// The configuration may disable the gate, and jobs with a minimum score may pass it at a
        /// low rate. Without a default score, only the configuration can allow that.
        case relaxable(from: Double?)
    }

    enum Opening: Sendable {
        /// The condition of the gate, which is known or is measured.
        case condition
        /// An event only.
        case event
        /// An event only, which happens within a minute while work is in progress. Not worth a line
        /// in the decision log.
        case eventSoon
        /// The passage of time, within a minute while work is in progress.
        case timeSoon
    }

    /// The traits of a gate, a row in the table below.
    struct Traits: Sendable {
        /// The stable name.
        var code: String
        var cause: Cause
        var rule: Rule
        var opening: Opening
        /// A short description of the gate when it is closed.
        var words: String
        /// The change that would open the gate; `nil` if it opens by itself.
        var remedy: String?
        /// `true` if fresh work may pass the gate, at the rate of the ``FreshBudget``.
        var letsFreshPass: Bool

        init(
            _ code: String, _ words: String, cause: Cause = .other, rule: Rule = .fixed, opening: Opening = .condition,
            remedy: String? = nil, letsFreshPass: Bool = false
        ) {
            (self.code, self.cause, self.rule, self.opening) = (code, cause, rule, opening)
            (self.words, self.remedy, self.letsFreshPass) = (words, remedy, letsFreshPass)
        }
    }

    var traits: Traits {
        switch self {
        case .disabled:
            Traits("disabled", "the extension is disabled", opening: .event, remedy: "enable the extension")
        case .quarantined:
            Traits(
                "quarantined", "the extension is in quarantine", opening: .event,
                remedy: "release the extension from its quarantine, or replace it")
        case .locked:
            Traits(
                "locked", "its items are encrypted and locked", opening: .event,
                remedy: "unlock them: searchlight unlock")
        case .backOff: Traits("back-off", "it failed, and is retried later")
        case .throttled:
            Traits(
                "throttled", "you throttled the extension", cause: .request, opening: .event,
                remedy: "end the throttling of the extension")
        case .cpuQuota: Traits("cpu-quota", "its quota of processor time is used up", rule: .switchable)
        case .writeQuota: Traits("write-quota", "its quota of written bytes is used up", rule: .switchable)
        case .cancelled: Traits("cancelled", "you cancelled it; it is retried later", cause: .request)
        case .busy:
            Traits(
                "turn", "another job is running", opening: .eventSoon,
                remedy: "the running job has to end or to pause")
        case .dutyCycle: Traits("pace", "it rests after a slice of work", opening: .timeSoon)
        case .freshPace:
            Traits("fresh-pace", "it rests after updating changed files", opening: .timeSoon)
        case .unknownConditions: Traits("unwatched", "the machine's conditions are not known yet", letsFreshPass: true)
        case .personWaiting:
            Traits(
                "person-waiting", "an interactive request is in progress", cause: .user, rule: .switchable,
                opening: .eventSoon, remedy: "the interactive request has to end",
                letsFreshPass: true)
        case .asleep:
            Traits("asleep", "the machine is about to sleep", cause: .sleep, remedy: "the machine has to wake")
        case .justResumed:
            Traits("just-resumed", "the machine just woke up", rule: .relaxable(from: nil), letsFreshPass: true)
        case .inhibited:
            Traits(
                "inhibited", "a program inhibits background work", rule: .relaxable(from: 48), letsFreshPass: true)
        case .userActive:
            Traits(
                "user-active", "the user is active", cause: .user, rule: .relaxable(from: 4),
                letsFreshPass: true)
        case .batteryLow:
            Traits(
                "battery-low", "the battery is nearly empty", cause: .power, rule: .relaxable(from: nil),
                remedy: "charge the battery, or plug the machine in")
        case .onBattery:
            Traits(
                "on-battery", "the machine runs on battery", cause: .power, rule: .relaxable(from: 8),
                remedy: "plug the machine in", letsFreshPass: true)
        case .powerSaver:
            Traits(
                "power-saver", "the power saver is on", cause: .power, rule: .relaxable(from: 24),
                remedy: "switch the power saver off", letsFreshPass: true)
        case .hot:
            Traits(
                "hot", "the machine is hot", cause: .load, rule: .relaxable(from: 12),
                remedy: "the machine has to cool down", letsFreshPass: true)
        case .cpuBusy:
            Traits(
                "cpu-busy", "other programs use the processors", cause: .load, rule: .relaxable(from: 6),
                remedy: "other programs have to use less of the processors", letsFreshPass: true)
        case .cpuPressure:
            Traits(
                "cpu-pressure", "work waits for processors", cause: .load, rule: .relaxable(from: 6),
                remedy: "the processor pressure has to fall", letsFreshPass: true)
        case .ioPressure:
            Traits(
                "io-pressure", "work waits for disks", cause: .load, rule: .relaxable(from: 8),
                remedy: "the disk pressure has to fall", letsFreshPass: true)
        case .memoryPressure:
            Traits(
                "memory-pressure", "work waits for memory", cause: .load, rule: .relaxable(from: nil),
                remedy: "the memory pressure has to fall")
        case .diskFloor:
            Traits(
                "disk-floor", "the disk is nearly full", rule: .switchable,
                remedy: "free space on the store's disk")
        }
    }

    /// The stable name, which is displayed, stored in decision logs and traces, and used in the
    /// configuration file.
    public var code: String { traits.code }
    /// The kind of cause.
    public var cause: Cause { traits.cause }
    /// A short description of the gate when it is closed.
    public var words: String { traits.words }

    /// Creates the gate that has a ``code``.
    public init?(code: String) {
        guard let gate = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = gate
    }

    /// `true` if the policy may allow a job with a high score to pass the gate.
    public var isRelaxable: Bool { if case .relaxable = traits.rule { true } else { false } }

    /// `true` if fresh work may pass the gate at a low rate. Searchlight's own inhibitor also holds
    /// fresh work.
    public var letsFreshPass: Bool { traits.letsFreshPass }

    /// `true` if the configuration may disable the gate.
    public var isSwitchable: Bool { if case .fixed = traits.rule { false } else { true } }

    /// The minimum scores with which jobs may pass gates, unless the configuration changes them.
    static let standardRelaxations: [Gate: Double] = allCases.reduce(into: [:]) { scores, gate in
        if case .relaxable(let score?) = gate.traits.rule { scores[gate] = score }
    }
}

extension Gate: Codable {
    /// Decodes a ``code``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let gate = Self(code: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no gate has this name")
        }
        self = gate
    }

    /// Encodes the ``code``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(code)
    }
}
