// SPDX-License-Identifier: Apache-2.0

/// A trace that ships with this program as a file in this folder.
public struct ShippedTrace: Hashable, Sendable {
    /// The name used on the command line, from the header of the file.
    public let name: String
    /// A one-sentence description, from the header of the file.
    public let summary: String
    /// The content of the file.
    public let jsonLines: String

    private init?(_ file: [UInt8]) {
        guard let trace = try? Trace(jsonLines: file) else { return nil }
        (name, summary, jsonLines) = (trace.name, trace.description, String(decoding: file, as: UTF8.self))
    }

    /// Parses the trace.
    public func trace() throws(TraceError) -> Trace { try Trace(jsonLines: Array(jsonLines.utf8)) }

    /// All shipped traces.
    public static let all: [ShippedTrace] = [
        PackageResources.laptop_office_day_jsonl, PackageResources.laptop_on_battery_jsonl,
        PackageResources.build_server_jsonl, PackageResources.never_idle_jsonl,
        PackageResources.resume_from_sleep_jsonl,
    ].compactMap(ShippedTrace.init)

    /// Creates the trace that has a name.
    public init?(name: String) {
        guard let trace = Self.all.first(where: { $0.name == name }) else { return nil }
        self = trace
    }
}
