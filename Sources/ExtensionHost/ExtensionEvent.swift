// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

/// What happens while extensions work, for whoever shows progress or keeps a log.
public enum ExtensionEvent: Hashable, Sendable, Codable {
    /// A worker was started for the extension.
    case started(bundle: String, processIdentifier: Int32)
    /// The extension printed a line.
    case output(bundle: String, line: String)
    /// The extension logged a message.
    case log(bundle: String, level: HostRequest.LogLevel, message: String)
    /// So many items were stored.
    case donated(bundle: String, count: Int)
    /// The worker has reported what confines it.
    case confined(bundle: String, SandboxReport)
    /// The extension tried what it may not, and the kernel refused it.
    case refusal(bundle: String, SandboxRefusal)
    /// The worker, or the app that was asked instead of the extension, is gone; the request is made once more, of whoever
    /// answers next.
    case retrying(bundle: String, after: ExtensionError)
    /// So much of what it was asked is done: `completed` of `total` units of the extension's choice; `total` is 0 if it is
    /// not known. A few a second at most.
    case progress(bundle: String, completed: UInt64, total: UInt64)
    /// The extension broke a rule of `searchlight_extension.h`, and it was made harmless.
    case misuse(bundle: String, rule: HostRequest.Misuse, message: String)
    /// An item made the extension fail, and is not asked for until something changes. `reason`: the rest of a sentence.
    case setAside(bundle: String, item: String, reason: String)
    /// The extension crashed too often, and is not asked anything until it changes or is released. `reason`: the rest of a
    /// sentence.
    case quarantined(bundle: String, reason: String)
    /// What is known of the extension's behaviour could not be written down; it holds for as long as this process lives.
    case healthNotKept(bundle: String, path: String, reason: String)
    /// So many bytes of the heap are kept by the libraries that its bindings call; see ``WorkerConfiguration/countsLibraryMemory``.
    case libraryMemory(bundle: String, kept: Int64)
}

extension ExtensionEvent {
    /// Whose extension it is.
    public var bundle: String {
        switch self {
        case .started(let bundle, _), .output(let bundle, _), .log(let bundle, _, _), .donated(let bundle, _),
            .confined(let bundle, _), .refusal(let bundle, _),
            .retrying(let bundle, _), .progress(let bundle, _, _), .misuse(let bundle, _, _),
            .setAside(let bundle, _, _), .quarantined(let bundle, _), .healthNotKept(let bundle, _, _),
            .libraryMemory(let bundle, _):
            bundle
        }
    }
}
