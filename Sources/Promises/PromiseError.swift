// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An error that occurs while a promise is delivered.
public enum PromiseError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The item offers no type that conforms to an accepted type.
    case unsupportedType(offered: [String], accepted: [String])
    /// The item offers nothing in the accepted forms, but offers something in other forms.
    case unsupportedForm(taken: [Representation.Form], offered: [Representation])
    /// Reading from the provider or writing to the receiver failed.
    case inputOutput(operation: String, path: String, code: Int32)
    /// The destination folder does not exist.
    case missingFolder(path: String)
    /// The file would be larger than the free space on its device.
    case noRoom(path: String, length: UInt64, available: UInt64)
    /// The provider sent more or fewer bytes than it declared.
    case wrongLength(expected: UInt64, received: UInt64)
    /// The provider stopped sending before the end.
    case stalled(path: String, received: UInt64, after: Duration)
    /// No process opened the named pipe for reading or accepts connections on the socket.
    case noReceiver(path: String, after: Duration)
    /// The delivery exceeded its total time limit.
    case tooSlow(path: String, limit: Duration)
    /// The provider sent more bytes than the limit.
    case tooLarge(length: UInt64, limit: UInt64)
    /// The provider returned a folder that is rejected because of its kind or its contents.
    /// `reason` is the end of a sentence about the path.
    case unsafeContent(path: String, reason: String)
    /// The provider returned a folder with too many entries. `what` is their kind, in the plural.
    case tooMany(path: String, what: String, limit: Int)
    /// The delivery was cancelled.
    case cancelled

    /// The error message: the attempted operation, the failure, and the remedy. It says nothing
    /// about the destination: no file has appeared, but a stream may have received part of the
    /// content.
    public var description: String {
        switch self {
        case .unsupportedType(let offered, let accepted):
            offered.isEmpty
                ? "The item promises no representation, so it cannot be dragged. The app of the item decides this."
                : """
                The item offers \(offered.joined(separator: ", ")), and none of these conforms to \
                \(accepted.joined(separator: ", ")). Accept one of the offered types.
                """
        case .unsupportedForm(let taken, let offered):
            """
            The item \(taken == [.inPlaceFile] ? "has no original in place" : "is not available as \(taken.nouns)"). It is \
            available as \(offered.map { "\($0.form.noun) of type \($0.type)" }.joined(separator: ", ")).
            """
        case .inputOutput(let operation, let path, let code):
            "\(operation) \(path) failed: \(String(cString: strerror(code)))."
        case .missingFolder(let path): "There is no folder \(path) to write to. Create it, or name another folder."
        case .noRoom(let path, let length, let available):
            "\(path) would have \(length) bytes, and only \(available) are free on its device. Make room."
        case .wrongLength(let expected, let received):
            "The provider announced \(expected) bytes and sent \(received). Try again."
        case .stalled(let path, let received, let limit):
            "The provider sent \(received) bytes for \(path), and then nothing for \(limit). Try again."
        case .noReceiver(let path, let limit):
            "No process opened \(path) for reading within \(limit). Start its reader."
        case .tooSlow(let path, let limit):
            "The provider did not send all content for \(path) within \(limit). Try again, or request less."
        case .tooLarge(let length, let limit):
            "The provider sent \(length) bytes, and the limit is \(limit). Request a type with less content."
        case .unsafeContent(let path, let reason): "The provider's content is refused: \(path) \(reason)."
        case .tooMany(let path, let what, let limit):
            "The provider's content is refused: \(path) has more than \(limit) \(what)."
        case .cancelled: "The delivery was cancelled."
        }
    }
}
