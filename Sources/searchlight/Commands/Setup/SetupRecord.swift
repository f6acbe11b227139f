// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Foundation
import Glibc
import SearchlightEngine
import SystemSupport

/// The changes made by `searchlight setup`, recorded so that it can undo them and does not ask
/// twice. Stored as a JSON file in the folder of the index.
struct SetupRecord: Codable, Equatable {
    /// The extensions that the user was asked about.
    var asked: Set<String> = []
    /// The extensions that were disabled because the user declined them.
    var disabled: Set<String> = []
    /// `true` if the service was enabled.
    var enabledService = false

    private static let maximumBytes = 1 << 20

    /// Reads the record; if there is none, creates an empty one.
    ///
    /// - Throws: ``CommandFailure`` if the file cannot be read or is damaged.
    init(inStore folder: String) throws(CommandFailure) {
        let path = StoreFileName.setupRecord.path(inStore: folder)
        let bytes: [UInt8]?
        do throws(UntrustedFile) { bytes = try OwnFile.bytes(path, limit: Self.maximumBytes) } catch {
            throw CommandFailure(message: error.description, status: .inputOutput)
        }
        guard let bytes else { return }
        do { self = try JSONDecoder().decode(Self.self, from: Data(bytes)) } catch {
            throw CommandFailure(
                message: """
                    \(path), the record of the earlier setup, cannot be read. Remove the file; setup then asks again, and \
                    --undo does not know the earlier changes.
                    """, status: .inputOutput)
        }
    }

    init() {}

    /// Replaces the stored record, or removes it if it is empty.
    func write(inStore folder: String) throws(CommandFailure) {
        let path = StoreFileName.setupRecord.path(inStore: folder)
        do {
            if self == Self() {
                if unlink(path) != 0, errno != ENOENT { throw CocoaError(.fileWriteUnknown) }
            } else {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys]
                try encoder.encode(self).write(to: URL(filePath: path), options: .atomic)
                // Like every file of the index: a check reports access by other users as damage.
                guard chmod(path, 0o600) == 0 else { throw CocoaError(.fileWriteNoPermission) }
            }
        } catch {
            throw CommandFailure(
                message: "Writing \(path) failed: \(systemReason(of: error)). Nothing was changed.",
                status: .inputOutput)
        }
    }
}
