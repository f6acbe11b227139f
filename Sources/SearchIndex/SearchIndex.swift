// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Glibc
import ServiceProtocol

/// Whose items are meant: everything is kept apart by bundle and by index.
public struct IndexScope: Hashable, Sendable {
    /// The bundle identifier of the app.
    public var bundle: String
    /// The name of the index; `nil` is the default one.
    public var index: String?

    /// Creates a scope.
    public init(bundle: String, index: String? = nil) {
        self.bundle = bundle
        self.index = index
    }
}

/// The store of one user: what apps donated, and what finds it again.
///
/// May be used from any task; writes happen one after the other, reads at the same time as they. It knows nothing of
/// extensions or of other processes: who may write is decided above.
public final class SearchIndex: Sendable {
    /// The folder that holds the store.
    public let directory: String
    let pool: DatabasePool
    /// The present, in seconds since 2001-01-01 UTC.
    let now: @Sendable () -> Double

    /// How long an item without an expiration date is kept: Apple's "one month", taken as 30 days, in seconds.
    public static let standardLifetime = 30.0 * 86400

    private static let fileName = "index.sqlite"

    /// Whether a store is opened to be changed.
    public enum Access: Sendable {
        /// Creates or upgrades the store if need be. One process at a time may have this.
        case readWrite
        /// Changes nothing; the store must exist.
        case readOnly
    }

    /// Opens the store in a folder.
    ///
    /// - Parameters:
    ///   - directory: Created with mode 0700 if it does not exist and `access` is `readWrite`.
    ///   - access: Whether the store may be changed.
    ///   - now: The present, in seconds since 2001-01-01 UTC.
    /// - Throws: ``SearchIndexError``.
    public init(
        directory: String, access: Access,
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSinceReferenceDate }
    ) throws(SearchIndexError) {
        self.directory = directory
        self.now = now
        let path = directory + "/" + Self.fileName
        var configuration = Configuration()
        configuration.label = "com.searchlight.index"
        configuration.busyMode = .timeout(10)
        configuration.readonly = access == .readOnly
        if access == .readOnly, !FileManager.default.fileExists(atPath: path) { throw .noStore(path: directory) }
        do {
            if access == .readWrite {
                try FileManager.default.createDirectory(
                    atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                Self.createFile(path)
            }
            pool = try DatabasePool(path: path, configuration: configuration)
            if access == .readWrite {
                // WAL alone is only safe against crashes of the process; an acknowledged item must survive those of
                // power. GRDB sets NORMAL when the pool is made, so this must come after.
                try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            }
            let isNewer = try pool.read { try Schema.migrator.hasBeenSuperseded($0) }
            guard !isNewer else { throw SearchIndexError.newerFormat(path: directory) }
            if access == .readWrite {
                try Schema.migrator.migrate(pool)
            } else if try pool.read({ try !Schema.migrator.hasCompletedMigrations($0) }) {
                throw SearchIndexError.noStore(path: directory)
            }
        } catch {
            throw SearchIndexError(error, path: directory, operation: "Opening the index")
        }
    }

    /// Makes an empty file that only its owner can read, whatever the folder's mode; SQLite gives its other files the
    /// same. An existing file is not even opened: closing it would drop the locks that this process has on it.
    private static func createFile(_ path: String) {
        let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        // Why it could not be made, SQLite will say.
        if number >= 0 { close(number) }
    }

    func write<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        do {
            return try await pool.write(body)
        } catch {
            throw SearchIndexError(error, path: directory, operation: operation)
        }
    }

    func read<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        do {
            return try await pool.read(body)
        } catch {
            throw SearchIndexError(error, path: directory, operation: operation)
        }
    }
}
