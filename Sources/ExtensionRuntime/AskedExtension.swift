// SPDX-License-Identifier: Apache-2.0
import ServiceMessages
import SystemSupport

/// What a worker asks of its extension, whichever kind it is: one with code of its own (``NativeExtension``), also in Swift,
/// or one that is only bindings.
///
/// Each request is made on a request thread, several at once. It returns `false` if the extension does not serve it; else
/// the extension answers the number it is given, through ``HostSession/finish(_:_:)``, during the call or later.
protocol AskedExtension: Sendable {
    /// The identifiers of the interfaces it serves, as in `searchlight_extension.h`.
    var interfaces: [String] { get }

    func reindexAll(_ request: UInt64) -> Bool
    func reindexItems(_ request: UInt64, _ identifiers: [String]) -> Bool
    func reindexPage(_ request: UInt64, _ page: ReindexPage) -> Bool
    func updateFiles(_ request: UInt64, _ changes: [FileChange]) -> Bool
    func provideData(_ request: UInt64, item: String, type: String) -> Bool
    func provideFile(_ request: UInt64, item: String, type: String, inPlace: Bool) -> Bool
    func preview(_ request: UInt64, item: String, query: String?, contentPath: String?) -> Bool
    func didThrottle(_ notice: ThrottleNotice) -> Bool
    func didFinishThrottle() -> Bool
}

/// Why an extension could not be loaded.
struct LoadError: Error {
    let failure: LoadFailure
    let message: String
}

/// Loads the extension that a request names. The only place that tells the kinds apart.
func loadExtension(_ request: LoadRequest, session: HostSession) throws(LoadError) -> any AskedExtension {
    if !request.bindings.isEmpty { return try BoundExtension(request, session: session) }
    return try NativeExtension(request, session: session)
}
