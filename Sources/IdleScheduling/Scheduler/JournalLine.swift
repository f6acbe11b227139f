// SPDX-License-Identifier: Apache-2.0
import Foundation

extension ScheduledJob.Key {
    /// The name of the job: `reindex:BUNDLE`, `files:BUNDLE`, `encrypted:BUNDLE` or
    /// `maintenance:TASK`.
    public var name: String {
        switch self {
        case .reindex(let bundle): "reindex:" + bundle
        case .files(let bundle): "files:" + bundle
        case .encrypted(let bundle): "encrypted:" + bundle
        case .maintenance(let task): "maintenance:" + task.rawValue
        }
    }

    /// Creates the key from a name; `nil` if the name is invalid. A bundle identifier alone denotes
    /// the bundle's reindex, and a task name alone denotes the task.
    public init?(name: String) {
        if let bundle = name.removing(prefix: "reindex:") {
            self = .reindex(bundle: bundle)
        } else if let bundle = name.removing(prefix: "files:") {
            self = .files(bundle: bundle)
        } else if let bundle = name.removing(prefix: "encrypted:") {
            self = .encrypted(bundle: bundle)
        } else if let task = MaintenanceTask(rawValue: name.removing(prefix: "maintenance:") ?? name) {
            self = .maintenance(task)
        } else {
            self = .reindex(bundle: name)
        }
        guard bundle.map({ (1...Self.maximumBundleBytes).contains($0.utf8.count) }) ?? !name.isEmpty else { return nil }
    }

    /// The maximum length of a bundle identifier, in bytes; the same as for an extension.
    private static let maximumBundleBytes = 255
}

extension String {
    fileprivate func removing(prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}

/// A decision as a line of JSON, as it is stored and displayed.
///
/// Keys are in alphabetical order, and times are in UTC with milliseconds. The same decision always
/// yields the same bytes.
public struct JournalLine: Sendable {
    /// The decision.
    public var entry: JournalEntry

    /// The maximum length of a line to read, in bytes.
    public static let maximumBytes = 16 << 10
    /// The maximum length of a reason to write, in bytes.
    private static let maximumReason = 2000

    /// Creates the line of a decision.
    public init(_ entry: JournalEntry) { self.entry = entry }

    /// Parses a line; `nil` if it is invalid.
    public init?(json: some Sequence<UInt8>) {
        let data = Data(json)
        guard data.count <= Self.maximumBytes, let form = try? JSONDecoder().decode(Form.self, from: data),
            let moment = Self.moment(form.at), let kind = JournalEntry.Kind(rawValue: form.event),
            let job = ScheduledJob.Key(name: form.job)
        else { return nil }
        var entry = JournalEntry(moment: moment, kind: kind, job: job, score: form.score)
        entry.gates = (form.gates ?? []).compactMap(Gate.init(code:))
        entry.until = form.until.flatMap(Self.moment)
        entry.reason = form.reason
        if form.cpu != nil || form.written != nil || form.wakeUps != nil {
            entry.usage = Usage(cpu: form.cpu ?? 0, written: form.written ?? 0, wakeUps: form.wakeUps ?? 0)
        }
        self.entry = entry
    }

    /// The bytes of the line, without a line break.
    public var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding cannot fail, because all numbers are finite.
        return (try? encoder.encode(form)).map(Array.init) ?? []
    }

    private var form: Form {
        Form(
            at: Self.text(entry.moment), cpu: entry.usage.map { Self.rounded($0.cpu, 1000) },
            event: entry.kind.rawValue, gates: entry.gates.isEmpty ? nil : entry.gates.map(\.code),
            job: entry.job.name,
            reason: entry.reason.map { String(decoding: $0.utf8.prefix(Self.maximumReason), as: UTF8.self) },
            score: Self.rounded(entry.score, 100), until: entry.until.map(Self.text), wakeUps: entry.usage?.wakeUps,
            written: entry.usage?.written)
    }

    /// The JSON object of a line.
    private struct Form: Codable {
        var at: String
        var cpu: Double?
        var event: String
        var gates: [String]?
        var job: String
        var reason: String?
        var score: Double
        var until: String?
        var wakeUps: UInt64?
        var written: UInt64?
    }

    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The range of times that a clock can plausibly have: from 100 years before to 1000 years
    /// after 2001.
    private static let sensible = -31_622_400.0 * 100...31_622_400.0 * 1000

    private static func text(_ moment: Double) -> String {
        let bounded = moment.isFinite ? min(max(moment, sensible.lowerBound), sensible.upperBound) : 0
        return Date(timeIntervalSinceReferenceDate: bounded).formatted(style)
    }

    private static func moment(_ text: String) -> Double? {
        guard text.utf8.count <= 40 else { return nil }
        return try? Date(text, strategy: style).timeIntervalSinceReferenceDate
    }

    private static func rounded(_ value: Double, _ parts: Double) -> Double {
        guard value.isFinite else { return 0 }
        return (min(max(value, -1e12), 1e12) * parts).rounded() / parts
    }
}

extension JournalLine: Encodable {
    /// Encodes the line's JSON object, for documents that contain several decisions.
    public func encode(to encoder: any Encoder) throws { try form.encode(to: encoder) }
}
