// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemSupport

/// The description of a store's embedding model, from the file `installed.json` in its folder.
package struct InstalledModel: Hashable, Sendable, Codable {
    /// The SHA-256 of the model's files, in hexadecimal digits. Embeddings from different models
    /// cannot be compared, so all stored embeddings belong to one identity.
    package var identity: String
    /// The displayed name.
    package var name: String
    /// The origin: a package with its version, or the path of the copied folder.
    package var source: String
    /// The license declared in the model's files; `nil` if they declare none.
    package var license: String?
    /// The number of components of an embedding.
    package var width: Int
    /// The size of the model's files in bytes.
    package var bytes: Int
    /// The time of the installation, in seconds since 2001-01-01 UTC.
    package var installed: Double

    /// The model's folder in a store.
    package static let folderName = "model"
    static let fileName = "installed.json"
    private static let maximumBytes = 64 << 10

    /// Returns the path of the model's folder.
    package static func folder(ofStore directory: String) -> String { directory + "/" + folderName }

    /// Reads the description of a store's model; `nil` if there is no model, or if the file is
    /// damaged. Without a model, this takes one system call.
    package init?(ofStore directory: String) {
        let path = Self.folder(ofStore: directory) + "/" + Self.fileName
        guard let bytes = try? BoundedFile.regular(path, limit: Self.maximumBytes),
            let model = try? JSONDecoder().decode(InstalledModel.self, from: Data(bytes)), model.isSound
        else { return nil }
        self = model
    }

    init(
        identity: String, name: String, source: String, license: String?, width: Int, bytes: Int, installed: Double
    ) {
        (self.identity, self.name, self.source, self.license) = (identity, name, source, license)
        (self.width, self.bytes, self.installed) = (width, bytes, installed)
    }

    private var isSound: Bool {
        identity.utf8.count == 64
            && identity.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            && (16...4096).contains(width) && width.isMultiple(of: 16) && installed.isFinite
    }

    /// The content of the file.
    var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array((try? encoder.encode(self)) ?? Data())
    }
}
