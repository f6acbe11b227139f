// SPDX-License-Identifier: Apache-2.0
import ServiceMessages
import SystemSupport

/// A loaded extension. A ``NativeExtension`` has code in C or Swift, a ``BoundExtension`` consists
/// of symbol bindings, and a ``DatabaseExtension`` reads a database.
///
/// Each request runs on a request thread; several may run at once. A function returns `false` if
/// the extension does not support the request. Otherwise the extension answers the request number
/// through ``HostSession/finish(_:_:)``, during the call or later.
protocol AskedExtension: Sendable {
    /// The identifiers of the interfaces that the extension supports, as in
    /// `searchlight_extension.h`.
    var interfaces: [String] { get }

    func reindexAll(_ request: UInt64) -> Bool
    func reindexItems(_ request: UInt64, _ identifiers: [String]) -> Bool
    func reindexEncrypted(_ request: UInt64, _ items: EncryptedItems) -> Bool
    func reindexPage(_ request: UInt64, _ page: ReindexPage) -> Bool
    func updateFiles(_ request: UInt64, _ changes: [FileChange]) -> Bool
    func provideData(_ request: UInt64, item: String, type: String) -> Bool
    func provideFile(_ request: UInt64, item: String, type: String, inPlace: Bool) -> Bool
    func preview(_ request: UInt64, item: String, query: String?, contentPath: String?) -> Bool
    func didThrottle(_ notice: ThrottleNotice) -> Bool
    func didFinishThrottle() -> Bool
}

extension AskedExtension {
    /// Requests the items like other items, from an extension that finds the index of an item by
    /// itself.
    func reindexEncrypted(_ request: UInt64, _ items: EncryptedItems) -> Bool {
        reindexItems(request, items.identifiers)
    }
}

/// An error that occurs while an extension is loaded.
struct LoadError: Error {
    let failure: LoadFailure
    let message: String
}

/// Loads the extension for a request. This is the only code that distinguishes the kinds of
/// extensions.
func loadExtension(_ request: LoadRequest, session: HostSession) throws(LoadError) -> any AskedExtension {
    if !request.database.isEmpty { return try DatabaseExtension(request, session: session) }
    if !request.bindings.isEmpty { return try BoundExtension(request, session: session) }
    return try NativeExtension(request, session: session)
}
