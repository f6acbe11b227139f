// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The keyring of the desktop: a program on the session bus with the Secret Service API of
/// freedesktop.org, such as GNOME Keyring. Only GNOME Keyring was tested. Each operation opens its
/// own connection.
///
/// ```swift
/// let keyring = SecretService(address: "unix:path=/run/user/1000/bus")
/// try await keyring.keep(key, as: name)
/// ```
///
/// Keys cross the bus only encrypted (``KeyExchange``). May be used from any task.
package struct SecretService: Keyring {
    /// The times after which an operation fails.
    package struct Limits: Sendable {
        /// The time for an answer of the keyring, and for its start.
        package var answer = Duration.seconds(25)
        /// The time in which the user answers a question of the keyring.
        package var question = Duration.seconds(120)

        package init() {}
    }

    private let address: String
    private let limits: Limits
    private let clock: any Clock<Duration>

    /// The largest number of keys with one name that are tried.
    static let maximumKeys = 8

    /// Creates the object without connecting.
    ///
    /// - Parameter address: The address of the session bus.
    package init(address: String, limits: Limits = Limits(), clock: any Clock<Duration> = ContinuousClock()) {
        (self.address, self.limits, self.clock) = (address, limits, clock)
    }

    package func keep(_ key: SecretKey, as name: KeyringName) async throws(ProtectionError) {
        try await withSession { (session) async throws(ProtectionError) in
            try await session.create(key, name)
            // A key that cannot be read again would lose the items.
            for found in try await session.keys(name) { if try found.isSame(as: key) { return } }
            throw .keyring(.malformed("it does not return the key that it was given"))
        }
    }

    package func keys(_ name: KeyringName) async throws(ProtectionError) -> [SecretKey] {
        try await withSession { (session) async throws(ProtectionError) in try await session.keys(name) }
    }

    package func remove(_ name: KeyringName) async -> Bool {
        do throws(ProtectionError) {
            return try await withSession { (session) async throws(ProtectionError) in try await session.remove(name) }
        } catch {
            return false
        }
    }

    private func withSession<Value: Sendable>(
        _ body: (SecretServiceSession) async throws(ProtectionError) -> Value
    ) async throws(ProtectionError) -> Value {
        let session = try await SecretServiceSession.open(address, limits, clock)
        defer { session.close() }
        return try await body(session)
    }
}

extension KeyringName {
    /// The attributes by which the keyring finds the key. They are not secret.
    var attributes: [String: String] {
        ["xdg:schema": "com.searchlight.StoreKey", "store": vault.text, "key": key.text]
    }
    /// The attributes of a key that was kept for the folder.
    var ownAttributes: [String: String] { attributes.merging(["folder": folder]) { $1 } }
}

extension VaultIdentifier {
    /// The bytes as hexadecimal digits.
    package var text: String { bytes.map { String(256 + Int($0), radix: 16).dropFirst() }.joined() }
}
