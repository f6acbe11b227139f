// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why a promise was not delivered.
public enum PromiseError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The item offers nothing that conforms to what is accepted.
    case unsupportedType(offered: [String], accepted: [String])
    /// The item offers nothing in the forms that are taken, but something in others.
    case unsupportedForm(taken: [Representation.Form], offered: [Representation])
    /// Reading from the provider or writing to the receiver failed.
    case inputOutput(operation: String, path: String, code: Int32)
    /// The folder a file should appear in does not exist.
    case missingFolder(path: String)
    /// The file would be larger than what is free on its device.
    case noRoom(path: String, length: UInt64, available: UInt64)
    /// The provider gave more or fewer bytes than it said.
    case wrongLength(expected: UInt64, received: UInt64)
    /// The provider stopped giving bytes before the end.
    case stalled(path: String, received: UInt64, after: Duration)
    /// Nobody opened a named pipe for reading, or served a socket.
    case noReceiver(path: String, after: Duration)
    /// The whole took too long.
    case tooSlow(path: String, limit: Duration)
    /// The provider gave more than can be taken.
    case tooLarge(length: UInt64, limit: UInt64)
    /// The provider gave a folder with something in it, or of a kind, that is not taken. `reason`: the rest of a sentence
    /// about the path.
    case unsafeContent(path: String, reason: String)
    /// The provider gave a folder with too much in it. `what`: of what, in the plural.
    case tooMany(path: String, what: String, limit: Int)
    /// Nobody wants it any more.
    case cancelled

    /// The error: what was attempted, what happened, what to do. What has become of the destination, its owner knows:
    /// a file has not appeared, a stream may have got a part.
    public var description: String {
        switch self {
        case .unsupportedType(let offered, let accepted):
            offered.isEmpty
                ? "The item promises no representation at all, so it cannot be dragged. Its app decides that."
                : """
                The item offers \(offered.joined(separator: ", ")), and none of these conforms to \
                \(accepted.joined(separator: ", ")). Ask for one of them.
                """
        case .unsupportedForm(let taken, let offered):
            """
            The item \(taken == [.inPlaceFile] ? "has no original in place" : "cannot be had as \(taken.nouns)"). It can be \
            had as \(offered.map { "\($0.form.noun) of type \($0.type)" }.joined(separator: ", ")).
            """
        case .inputOutput(let operation, let path, let code):
            "\(operation) \(path) failed: \(String(cString: strerror(code)))."
        case .missingFolder(let path): "There is no folder \(path) to write to. Create it, or name another."
        case .noRoom(let path, let length, let available):
            "\(path) would have \(length) bytes, and only \(available) are free on its device. Make room."
        case .wrongLength(let expected, let received):
            "The provider announced \(expected) bytes and gave \(received). Try again."
        case .stalled(let path, let received, let limit):
            "The provider gave \(received) bytes for \(path) and then nothing more for \(limit). Try again."
        case .noReceiver(let path, let limit):
            "Nobody opened \(path) to read from it within \(limit). Start its reader."
        case .tooSlow(let path, let limit):
            "The provider had not given all that is meant for \(path) after \(limit). Try again, or ask for less."
        case .tooLarge(let length, let limit): "The provider gave \(length) bytes; the limit is \(limit)."
        case .unsafeContent(let path, let reason): "What the provider gave is not taken: \(path) \(reason)."
        case .tooMany(let path, let what, let limit):
            "What the provider gave is not taken: \(path) has more than \(limit) \(what)."
        case .cancelled: "The delivery was cancelled."
        }
    }
}
