// SPDX-License-Identifier: Apache-2.0
import Foundation
import CommandSupport
import Glibc
import Previews
import Promises
import SearchIndex
import SearchlightEngine
import UniformTypeIdentifiers

/// Where “--output” has something go.
struct OutputChoice {
    let destination: Destination
    /// The path as it is printed; `nil` for standard output, and in a folder, where the delivery finds a name.
    let path: String?
    /// Whether a part may have arrived when a delivery fails.
    private let isStream: Bool

    /// - Parameters:
    ///   - text: What was given; `-` is standard output.
    ///   - item: The item, for a name in a folder.
    ///   - type: What it will be, if that is known.
    init(_ text: String, for item: StoredItem, as type: String?) {
        guard text != "-" else {
            (destination, path, isStream) = (.stream(descriptor: STDOUT_FILENO), nil, true)
            return
        }
        let path = absolute(text)
        guard let kind = Self.kind(of: text) else {
            // UTF-8 text has the extension of plain text, and none of its own.
            let form = type.flatMap { UTType($0) }.map { $0.conforms(to: .plainText) ? .plainText : $0 }
            let title = item.record.text("displayName") ?? item.displayTitle
            let name = FileName(title: title, fileExtension: form?.preferredFilenameExtension)
            (destination, self.path, isStream) = (.folder(path: path, name: name), nil, false)
            return
        }
        (destination, self.path, isStream) = (.file(path: path), path, kind != S_IFREG)
    }

    /// Refuses what has no room for several.
    static func checkForSeveral(_ text: String) throws(CommandFailure) {
        guard text != "-", let kind = kind(of: text), kind == S_IFREG else { return }
        throw CommandFailure(
            message: "Several items need a folder that exists, or - for standard output; \(text) is neither.",
            status: .usage)
    }

    /// What kind of file there is or would be; `nil` for a folder.
    private static func kind(of text: String) -> mode_t? {
        var status = stat()
        let kind = stat(absolute(text), &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
        return kind == S_IFDIR || text.hasSuffix("/") ? nil : kind
    }

    /// A failed delivery as a failure of the command, which says what has become of the destination.
    func failure(_ error: PromiseError) -> any Error {
        switch error {
        case .unsupportedType: return EngineError.promise(error)
        case .inputOutput(_, _, EPIPE) where isStream && path == nil: return OutputError(code: EPIPE)
        default:
            let outcome = isStream ? "Part of it may have been written." : "No file was written."
            return CommandFailure(message: error.description + " " + outcome, status: ExitStatus(error))
        }
    }
}
