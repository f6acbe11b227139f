// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

/// An event in an extension's work, for progress displays and logs.
public enum ExtensionEvent: Hashable, Sendable, Codable {
    /// A worker was started for the extension.
    case started(bundle: String, processIdentifier: Int32)
    /// The extension printed a line.
    case output(bundle: String, line: String)
    /// The extension logged a message.
    case log(bundle: String, level: HostRequest.LogLevel, message: String)
    /// The number of items that were stored from one batch.
    case donated(bundle: String, count: Int)
    /// The worker reported its confinement.
    case confined(bundle: String, SandboxReport)
    /// The extension attempted a forbidden operation, and the kernel denied it.
    case refusal(bundle: String, SandboxRefusal)
    /// The worker or the delegate app exited during the request. The request is sent once more, to
    /// the next responder.
    case retrying(bundle: String, after: ExtensionError)
    /// The extension's progress: `completed` of `total` units, which the extension defines. `total`
    /// is 0 if it is unknown. At most a few events per second.
    case progress(bundle: String, completed: UInt64, total: UInt64)
    /// The extension broke a rule of `searchlight_extension.h`, and the host contained the effect.
    case misuse(bundle: String, rule: HostRequest.Misuse, message: String)
    /// The extension reported content that it does not index.
    case leftOut(bundle: String, LeftOut)
    /// An item made the extension fail and is skip-listed until the extension or item changes.
    /// `reason` completes a sentence.
    case setAside(bundle: String, item: String, reason: String)
    /// The extension crashed too often. It receives no requests until it changes or the user
    /// releases it. `reason` is the end of a sentence.
    case quarantined(bundle: String, reason: String)
    /// The extension's health record could not be saved. It remains in effect until this process
    /// exits.
    case healthNotKept(bundle: String, path: String, reason: String)
    /// The number of heap bytes that the libraries used by the extension's bindings have not freed.
    /// Only reported with ``WorkerConfiguration/countsLibraryMemory``.
    case libraryMemory(bundle: String, kept: Int64)
}

extension ExtensionEvent {
    /// The extension's bundle identifier.
    public var bundle: String {
        switch self {
        case .started(let bundle, _), .output(let bundle, _), .log(let bundle, _, _), .donated(let bundle, _),
            .confined(let bundle, _), .refusal(let bundle, _),
            .retrying(let bundle, _), .progress(let bundle, _, _), .misuse(let bundle, _, _), .leftOut(let bundle, _),
            .setAside(let bundle, _, _), .quarantined(let bundle, _), .healthNotKept(let bundle, _, _),
            .libraryMemory(let bundle, _):
            bundle
        }
    }
}
