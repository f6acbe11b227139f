// SPDX-License-Identifier: Apache-2.0

/// A trace that is part of this program: a file of this folder.
public struct ShippedTrace: Hashable, Sendable {
    /// What it is called on the command line, as its header says.
    public let name: String
    /// What it shows, in a sentence, as its header says.
    public let summary: String
    /// The file.
    public let jsonLines: String

    private init?(_ file: [UInt8]) {
        guard let trace = try? Trace(jsonLines: file) else { return nil }
        (name, summary, jsonLines) = (trace.name, trace.description, String(decoding: file, as: UTF8.self))
    }

    /// The trace.
    public func trace() throws(TraceError) -> Trace { try Trace(jsonLines: Array(jsonLines.utf8)) }

    /// All of them.
    public static let all: [ShippedTrace] = [
        PackageResources.laptop_office_day_jsonl, PackageResources.laptop_on_battery_jsonl,
        PackageResources.build_server_jsonl, PackageResources.never_idle_jsonl,
        PackageResources.resume_from_sleep_jsonl,
    ].compactMap(ShippedTrace.init)

    /// The one of a name.
    public init?(name: String) {
        guard let trace = Self.all.first(where: { $0.name == name }) else { return nil }
        self = trace
    }
}
