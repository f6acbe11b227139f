// SPDX-License-Identifier: Apache-2.0
import Foundation
import CommandSupport
import Glibc
import Previews
import Promises
import SearchIndex
import SearchlightEngine
import UniformTypeIdentifiers

/// The destination given by “--output”.
struct OutputChoice {
    let destination: Destination
    /// The path to print; `nil` for standard output, and for a folder, where the delivery chooses
    /// the name.
    let path: String?
    /// `true` if a failed delivery may have written some of the bytes.
    private let isStream: Bool

    /// Parses the argument.
    ///
    /// - Parameters:
    ///   - text: The argument; `-` for standard output.
    ///   - item: The item, used to derive a file name in a folder.
    ///   - type: The type of the content, if known.
    init(_ text: String, for item: StoredItem, as type: String?) {
        guard text != "-" else {
            (destination, path, isStream) = (.stream(descriptor: STDOUT_FILENO), nil, true)
            return
        }
        let path = absolute(text)
        guard let kind = Self.kind(of: text) else {
            // UTF-8 text has no extension of its own, and uses the extension of plain text.
            let form = type.flatMap { UTType($0) }.map { $0.conforms(to: .plainText) ? .plainText : $0 }
            let title = item.record.text("displayName") ?? item.displayTitle
            let name = FileName(title: title, fileExtension: form?.preferredFilenameExtension)
            (destination, self.path, isStream) = (.folder(path: path, name: name), nil, false)
            return
        }
        (destination, self.path, isStream) = (.file(path: path), path, kind != S_IFREG)
    }

    /// Throws an error for a destination that cannot receive several items.
    static func checkForSeveral(_ text: String) throws(CommandFailure) {
        guard text != "-", let kind = kind(of: text), kind == S_IFREG else { return }
        throw CommandFailure(
            message: "Several items need a folder that exists, or - for standard output; \(text) is neither.",
            status: .usage)
    }

    /// Returns the kind of the existing or new file; `nil` for a folder.
    private static func kind(of text: String) -> mode_t? {
        var status = stat()
        let kind = stat(absolute(text), &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
        return kind == S_IFDIR || text.hasSuffix("/") ? nil : kind
    }

    /// Returns the command's failure for a failed delivery, including the state of the destination.
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
