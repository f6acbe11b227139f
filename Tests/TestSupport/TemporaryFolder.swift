// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A private folder of a test, deleted with its contents when the object is deinitialized.
public final class TemporaryFolder: Sendable {
    /// The absolute path, without a trailing slash.
    public let path: String

    /// The parent of the tests' folders: `SEARCHLIGHT_TEST_FOLDER`, which Scripts/torture cleans
    /// up, or the system's temporary directory.
    public static let place =
        ProcessInfo.processInfo.environment["SEARCHLIGHT_TEST_FOLDER"] ?? FileManager.default.temporaryDirectory.path

    /// Creates an empty folder that no other test uses.
    ///
    /// - Throws: The error of the file system.
    public init() throws {
        path = Self.place + "/searchlight-test-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the path of a file in the folder.
    public func path(_ name: String) -> String { path + "/" + name }

    /// The sorted names of the files in the folder, including hidden ones.
    public var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    /// Writes a file in the folder and returns its path.
    ///
    /// - Throws: The error of the file system.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)))
        return path(name)
    }

    /// Returns the bytes of a file in the folder.
    ///
    /// - Throws: The error of the file system.
    public func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }
}
