// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import ExtensionHost
import Foundation

/// A bundle for replaying a recording: without access to any file, and with or without a library.
/// Its folder is removed when the object is deinitialized.
package final class ReplayBundle: Sendable {
    package let bundle: ExtensionBundle
    private let folder: String

    /// Creates the bundle in the temporary folder.
    ///
    /// - Parameters:
    ///   - library: The path of a library, which is copied into the bundle; `nil` for none.
    /// - Throws: ``ExtensionError``, or an error of Foundation.
    package init(_ recording: CallRecording, library: String?) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/searchlight-replay-\(UUID().uuidString)"
        self.folder = folder
        // No part of the path comes from the recording.
        let path = folder + "/replayed.searchext"
        var point: [String: Any] = ["NSExtensionPointIdentifier": "com.apple.spotlight.index"]
        var manifest: [String: Any] = ["CFBundleIdentifier": recording.bundle, "CFBundleVersion": "1"]
        if library != nil {
            manifest["CFBundleExecutable"] = "library.so"
            point["NSExtensionPrincipalClass"] = recording.principalClass
        } else {
            // A bundle must have code or a binding. The worker plays the recorded extension
            // instead.
            manifest["Searchlight"] = [
                "SymbolBindings": ["serve throttle library \"libc.so.6\" call getpid() -> _: int"]
            ]
        }
        manifest["NSExtension"] = point
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try PropertyListSerialization.data(fromPropertyList: manifest, format: .xml, options: 0)
                .write(to: URL(filePath: path + "/Info.plist"))
            if let library { try FileManager.default.copyItem(atPath: library, toPath: path + "/library.so") }
            bundle = try ExtensionBundle(at: path)
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}
