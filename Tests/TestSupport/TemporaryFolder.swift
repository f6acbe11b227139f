// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A folder of a test's own, gone with everything in it when the last reference goes.
public final class TemporaryFolder: Sendable {
    /// The absolute path, without a slash at the end.
    public let path: String

    /// Where folders of tests are made: where Scripts/torture removes what was killed left, or where the system wants them.
    public static let place =
        ProcessInfo.processInfo.environment["SEARCHLIGHT_TEST_FOLDER"] ?? FileManager.default.temporaryDirectory.path

    /// Creates an empty folder that no other test uses.
    ///
    /// - Throws: What the file system reports.
    public init() throws {
        path = Self.place + "/searchlight-test-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in the folder.
    public func path(_ name: String) -> String { path + "/" + name }

    /// The names of what is in the folder, hidden files too, sorted.
    public var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    /// Writes a file in the folder and gives its path back.
    ///
    /// - Throws: What the file system reports.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)))
        return path(name)
    }

    /// The bytes of a file in the folder.
    ///
    /// - Throws: What the file system reports.
    public func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }
}
