// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

/// An event in the work of an extension, for progress displays and logs.
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
    /// The worker, or the app that was asked instead of the extension, is gone. The request is sent
    /// once more, to the next responder.
    case retrying(bundle: String, after: ExtensionError)
    /// The extension's progress: `completed` of `total` units of its choice. `total` is 0 if it is
    /// not known. At most a few events a second.
    case progress(bundle: String, completed: UInt64, total: UInt64)
    /// The extension broke a rule of `searchlight_extension.h`, and the host contained the effect.
    case misuse(bundle: String, rule: HostRequest.Misuse, message: String)
    /// The extension reported content that it leaves out of the index.
    case leftOut(bundle: String, LeftOut)
    /// An item made the extension fail and is skip-listed until the extension or item changes.
    /// `reason` completes a sentence.
    case setAside(bundle: String, item: String, reason: String)
    /// The extension crashed too often. It gets no requests until it changes or the user releases
    /// it. `reason` is the end of a sentence.
    case quarantined(bundle: String, reason: String)
    /// The extension's health record could not be saved. It stays valid until this process ends.
    case healthNotKept(bundle: String, path: String, reason: String)
    /// The number of heap bytes that the libraries of the extension's bindings keep. Only reported
    /// with ``WorkerConfiguration/countsLibraryMemory``.
    case libraryMemory(bundle: String, kept: Int64)
}

extension ExtensionEvent {
    /// The identifier of the extension's bundle.
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
