// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SystemSupport

/// A request to record the calls between an extension and its host, or to replay a recording.
public struct BoundaryRequest: Sendable, Hashable {
    /// The role of the worker.
    public enum Mode: UInt64, Sendable, CaseIterable {
        /// The extension and the host are real, and their calls are recorded.
        case record = 0
        /// The extension is real, and the worker plays the role of the recorded host.
        case playHost = 1
        /// The host is real, and the worker plays the role of the recorded extension.
        case playExtension = 2
    }

    /// The role of the worker.
    public let mode: Mode
    /// The recording of one session; not read in ``Mode/record`` mode.
    public let input: OwnedDescriptor
    /// The file to which the worker writes events.
    public let output: OwnedDescriptor

    /// Creates a request.
    public init(mode: Mode, input: OwnedDescriptor, output: OwnedDescriptor) {
        self.mode = mode
        self.input = input
        self.output = output
    }

    var arguments: [BusValue] { [.unsigned(mode.rawValue), .descriptor(input), .descriptor(output)] }

    init(_ arguments: inout BusArguments) throws(BusError) {
        guard let mode = Mode(rawValue: try arguments.unsigned()) else {
            throw .malformed("there is no such mode of recording")
        }
        self.init(mode: mode, input: try arguments.descriptor(), output: try arguments.descriptor())
    }

    /// Compares the descriptors, not the files.
    public static func == (one: BoundaryRequest, other: BoundaryRequest) -> Bool {
        one.mode == other.mode && one.input === other.input && one.output === other.output
    }

    /// Hashes the descriptors, not the files.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(mode)
        hasher.combine(ObjectIdentifier(input))
        hasher.combine(ObjectIdentifier(output))
    }
}
