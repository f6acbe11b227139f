// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Promises
import SemanticEmbedding
import SystemSupport

/// Installs and removes a store's embedding model.
///
/// The model is copied with 8-bit weights into a new folder, tested, and renamed. So a folder with
/// the final name is always complete, and a process that has mapped the previous model keeps its
/// files.
package struct ModelInstallation: Sendable {
    private let store: String
    private var folder: String { InstalledModel.folder(ofStore: store) }
    private var newFolder: String { folder + ".new" }
    private var oldFolder: String { folder + ".old" }

    /// The maximum size of a file that is read for its license, and the number of initial lines
    /// that may declare it.
    private static let (readmeBytes, readmeLines) = (1 << 20, 60)
    private static let maximumFileBytes = 2 << 30

    /// - Parameter store: The store's folder, which must exist.
    package init(store: String) { self.store = store }

    /// Installs a model.
    ///
    /// - Parameters:
    ///   - source: The folder with the model's files.
    ///   - name: The displayed name.
    ///   - origin: The displayed origin.
    ///   - license: The license; `nil` to use the one that the files declare.
    ///   - now: The current time, in seconds since 2001-01-01 UTC.
    /// - Throws: ``EngineError/semantic(_:)``; the previous model is then kept.
    package func install(
        from source: String, name: String, origin: String, license: String? = nil, now: Double
    ) throws(EngineError) -> InstalledModel {
        try remove(newFolder)
        guard mkdir(newFolder, 0o700) == 0 else { throw failed("create", newFolder, errno) }
        do throws(EngineError) {
            let model = try copy(source, name, origin, license ?? Self.license(of: source), now)
            try remove(oldFolder)
            guard rename(folder, oldFolder) == 0 || errno == ENOENT else { throw failed("rename", folder, errno) }
            guard rename(newFolder, folder) == 0 else {
                let code = errno
                rename(oldFolder, folder)
                throw failed("rename", newFolder, code)
            }
            synchronize(store)
            try? remove(oldFolder)
            return model
        } catch {
            try? remove(newFolder)
            throw error
        }
    }

    /// Removes the model.
    ///
    /// - Returns: The removed model; `nil` if there was none.
    /// - Throws: ``EngineError/semantic(_:)``.
    @discardableResult
    package func remove() throws(EngineError) -> InstalledModel? {
        let model = InstalledModel(ofStore: store)
        // Renamed first, so that no process sees an incomplete model.
        try remove(oldFolder)
        if rename(folder, oldFolder) != 0, errno != ENOENT { throw failed("rename", folder, errno) }
        for folder in [oldFolder, newFolder] { try remove(folder) }
        return model
    }

    private func copy(
        _ source: String, _ name: String, _ origin: String, _ license: String?, _ now: Double
    ) throws(EngineError) -> InstalledModel {
        do throws(EmbeddingError) {
            try ModelQuantization.write(try ModelFolder(path: source), to: newFolder)
            // Damaged weights may give results that are not finite.
            let embedder = try TextEmbedder(folder: try ModelFolder(path: newFolder))
            _ = try embedder.embed(query: "The model is tried before it is used.")
            let (identity, bytes) = try identity()
            let model = InstalledModel(
                identity: identity, name: name, source: origin, license: license, width: embedder.width, bytes: bytes,
                installed: now)
            try ModelQuantization.write([model.json], to: newFolder + "/" + InstalledModel.fileName)
            synchronize(newFolder)
            return model
        } catch {
            throw .semantic(error.description)
        }
    }

    /// Returns the SHA-256 of the new files and their names, and the total size.
    private func identity() throws(EmbeddingError) -> (String, Int) {
        let path = newFolder
        do {
            let names = try BoundedFile.names(in: path, limit: 100).sorted()
            let digest = try RunningDigest()
            var total = 0
            for name in names {
                let bytes = try BoundedFile.regular(path + "/" + name, limit: Self.maximumFileBytes)
                let head = Array("\(name)\0\(bytes.count)\0".utf8)
                head.withUnsafeBytes(digest.add)
                bytes.withUnsafeBytes(digest.add)
                total += bytes.count
            }
            return (ModelInstallation.hexadecimal(digest.finish()), total)
        } catch {
            throw .file(path: path, reason: "\(error)")
        }
    }

    /// Returns the SHA-256 of a file in hexadecimal digits.
    package static func digest(ofFile path: String) throws(EngineError) -> String {
        do {
            let digest = try RunningDigest()
            try BoundedFile.regular(path, limit: maximumFileBytes).withUnsafeBytes(digest.add)
            return hexadecimal(digest.finish())
        } catch {
            throw .semantic("Cannot read \(path): \(error)")
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns the license that a model card declares in the header of its `README.md`.
    private static func license(of source: String) -> String? {
        guard let bytes = try? BoundedFile.regular(source + "/README.md", limit: readmeBytes) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: readmeLines)
        guard let line = lines.prefix(readmeLines).first(where: { $0.hasPrefix("license:") }) else { return nil }
        let name = line.dropFirst("license:".count).trimmingCharacters(in: .whitespaces)
        return name.isEmpty ? nil : String(name.prefix(80))
    }

    private func remove(_ path: String) throws(EngineError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        do { try FileManager.default.removeItem(atPath: path) } catch {
            throw .semantic("Cannot remove \(path): \(systemReason(of: error)). Remove it yourself, and try again.")
        }
    }

    private func synchronize(_ folder: String) {
        let number = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return }
        fsync(number)
        Glibc.close(number)
    }

    private func failed(_ action: String, _ path: String, _ code: Int32) -> EngineError {
        .semantic(
            "Cannot \(action) \(path): \(String(cString: strerror(code))). Check its owner, and the free space of its device."
        )
    }
}
