// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Previews
import Promises
import SearchIndex
import SearchlightEngine
import UniformTypeIdentifiers

/// Where “--output” has something go.
struct OutputChoice {
    let destination: Destination
    /// The path as it is printed; `nil` for standard output.
    let path: String?
    /// Whether a part may have arrived when a delivery fails.
    private let isStream: Bool

    /// - Parameters:
    ///   - text: What was given; `-` is standard output.
    ///   - item: The item, for a name to suggest where a folder was given.
    ///   - type: What it will be, if that is known.
    init(_ text: String, for item: StoredItem, as type: String?) throws(CommandFailure) {
        guard text != "-" else {
            (destination, path, isStream) = (.stream(descriptor: STDOUT_FILENO), nil, true)
            return
        }
        let path = absolute(text)
        var status = stat()
        let exists = stat(path, &status) == 0
        let kind = exists ? status.st_mode & S_IFMT : S_IFREG
        guard kind != S_IFDIR, !text.hasSuffix("/") else {
            let example = (text.hasSuffix("/") ? text : text + "/") + Self.name(for: item, as: type)
            throw CommandFailure(
                message: "\(text) \(exists ? "is" : "would be") a folder. Name a file in it, for example \(example)",
                status: .inputOutput)
        }
        (destination, self.path, isStream) = (.file(path: path), path, kind != S_IFREG)
    }

    private static let maximumNameCharacters = 60

    /// A file name for an item.
    private static func name(for item: StoredItem, as type: String?) -> String {
        let title = DisplayText.line(item.displayTitle).split(separator: "/").last.map(String.init) ?? ""
        let ending = type.flatMap { UTType($0)?.preferredFilenameExtension }.map { "." + $0 } ?? ""
        let stem = String((title.isEmpty ? "item" : title).drop { $0 == "." }.prefix(maximumNameCharacters))
        return stem.hasSuffix(ending) ? stem : stem + ending
    }

    /// A failed delivery as a failure of the command, which says what has become of the destination.
    func failure(_ error: PromiseError) -> any Error {
        switch error {
        case .unsupportedType: return EngineError.promise(error)
        case .inputOutput(_, _, EPIPE) where path == nil: return OutputError(code: EPIPE)
        default:
            let outcome = isStream ? "Part of it may have been written." : "No file was written."
            return CommandFailure(message: error.description + " " + outcome, status: ExitStatus(error))
        }
    }
}
