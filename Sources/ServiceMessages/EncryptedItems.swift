// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord

/// Items of an encrypted index that are requested again. Only sent while the store is unlocked.
public struct EncryptedItems: Sendable, Hashable {
    /// The name of the index; never empty.
    public var index: String
    /// The class of the index, which is encrypted.
    public var protection: ProtectionClass
    /// The unique identifiers of the items.
    public var identifiers: [String]

    /// Creates a request.
    public init(index: String, protection: ProtectionClass, identifiers: [String]) {
        (self.index, self.protection, self.identifiers) = (index, protection, identifiers)
    }

    /// The message of an app without a delegate for the index. It is fixed, so it may be recorded.
    public static let noDelegate = "the app has no delegate for this index"

    /// The arguments of the request.
    var arguments: [BusValue] { [.string(index), .string(protection.rawValue), .strings(identifiers)] }

    init(_ arguments: inout BusArguments) throws(BusError) {
        index = try arguments.string()
        guard !index.isEmpty, let protection = ProtectionClass(rawValue: try arguments.string()),
            protection.isEncrypted
        else { throw .malformed("the request names no encrypted index") }
        self.protection = protection
        identifiers = try arguments.strings()
    }
}
