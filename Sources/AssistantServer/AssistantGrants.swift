// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchlightEngine
import SystemSupport

/// A problem with the files for assistants.
package struct AssistantFileError: Error, CustomStringConvertible {
    package var description: String
}

/// The apps whose items each assistant may read. An assistant without a grant can read no items.
///
/// An assistant states its own name, so a grant records the user's consent. It is not a security
/// boundary against the user's other programs, which can read the index anyway.
package struct AssistantGrants: Codable, Equatable, Sendable {
    /// The grants of one assistant.
    package struct Grant: Codable, Equatable, Sendable {
        /// The bundle identifiers of the apps.
        package var bundles: Set<String> = []
        /// `true` if the assistant may read the items of all apps, including apps added later.
        package var all = false

        package init() {}
    }

    /// The grants by assistant name.
    package private(set) var assistants: [String: Grant] = [:]

    /// The maximum number of assistants, and of apps per assistant.
    package static let maximumAssistants = 100
    package static let maximumBundles = 1000
    /// The maximum length of a name, in bytes.
    package static let maximumNameBytes = 200

    package init() {}

    /// Returns `true` if an assistant may read a bundle's items.
    package func allows(_ assistant: String, _ bundle: String) -> Bool {
        assistants[assistant].map { $0.all || $0.bundles.contains(bundle) } ?? false
    }

    /// Grants an assistant access to apps; `nil` grants access to all apps.
    ///
    /// - Returns: `false` if a limit is reached.
    mutating func grant(_ assistant: String, _ bundles: [String]?) -> Bool {
        var grant = assistants[assistant] ?? Grant()
        if let bundles { grant.bundles.formUnion(bundles) } else { grant.all = true }
        assistants[assistant] = grant
        return assistants.count <= Self.maximumAssistants && grant.bundles.count <= Self.maximumBundles
    }

    /// Revokes an assistant's grants; `nil` revokes all of them.
    ///
    /// - Returns: `false` if no such grant existed.
    mutating func revoke(_ assistant: String, _ bundles: [String]?) -> Bool {
        guard var grant = assistants[assistant] else { return false }
        guard let bundles else {
            assistants[assistant] = nil
            return true
        }
        let before = grant
        grant.bundles.subtract(bundles)
        assistants[assistant] = grant == Grant() ? nil : grant
        return grant != before
    }
}

/// The file with the grants, in the store's folder. A change is durable when its function returns.
/// May be used by several processes at a time.
package struct AssistantGrantsFile: Sendable {
    private static let maximumBytes = 4 << 20

    private let path: String
    private let lockPath: String

    /// Creates the object for a store's file.
    package init(store: String) {
        path = StoreFileName.assistantGrants.path(inStore: store)
        lockPath = StoreFileName.assistantGrantsLock.path(inStore: store)
    }

    /// Reads the grants; none if the file does not exist.
    ///
    /// - Throws: ``AssistantFileError`` if the file is damaged, or is not a regular file that only
    ///   this user may change. Nothing is granted in that case.
    package func read() throws(AssistantFileError) -> AssistantGrants {
        let bytes: [UInt8]?
        do throws(UntrustedFile) { bytes = try OwnFile.bytes(path, limit: Self.maximumBytes) } catch {
            throw AssistantFileError(description: "\(error.description) Until then, no assistant may read anything.")
        }
        guard let bytes else { return AssistantGrants() }
        do { return try JSONDecoder().decode(AssistantGrants.self, from: Data(bytes)) } catch {
            throw AssistantFileError(
                description: """
                    The grants in \(path) cannot be read, so no assistant may read anything. Remove the file, and grant \
                    access again.
                    """)
        }
    }

    /// Grants an assistant access to apps; `nil` grants access to all apps.
    package func grant(_ assistant: String, _ bundles: [String]?) throws(AssistantFileError) {
        guard (1...AssistantGrants.maximumNameBytes).contains(assistant.utf8.count) else {
            throw AssistantFileError(
                description: "The name of an assistant has 1 to \(AssistantGrants.maximumNameBytes) bytes.")
        }
        guard try change({ $0.grant(assistant, bundles) }) else {
            throw AssistantFileError(
                description: """
                    The limit of \(AssistantGrants.maximumAssistants) assistants with \(AssistantGrants.maximumBundles) apps \
                    each is reached. Revoke a grant first.
                    """)
        }
    }

    /// Revokes an assistant's grants; `nil` revokes all of them. Returns `false` if no such grant
    /// existed.
    package func revoke(_ assistant: String, _ bundles: [String]?) throws(AssistantFileError) -> Bool {
        try change { $0.revoke(assistant, bundles) }
    }

    /// Changes the file under a lock. If the body returns `false`, the change is dropped.
    private func change(_ body: (inout AssistantGrants) -> Bool) throws(AssistantFileError) -> Bool {
        let lock: OwnedDescriptor
        do throws(UntrustedFile) { lock = try OwnFile.open(lockPath, O_RDWR | O_CREAT) } catch {
            throw AssistantFileError(description: error.description)
        }
        guard flock(lock.number, LOCK_EX) == 0 else { throw failure(errno) }
        defer { flock(lock.number, LOCK_UN) }
        var grants = try read()
        guard body(&grants) else { return false }
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
            try encoder.encode(grants).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw AssistantFileError(description: "Writing \(path) failed. Check that the disk is not full.")
        }
        chmod(path, 0o600)
        return true
    }

    private func failure(_ code: Int32) -> AssistantFileError {
        AssistantFileError(
            description: """
                Locking \(lockPath) failed: \(String(cString: strerror(code)).lowercased()). Check that you may write to the \
                store's folder.
                """)
    }
}
