// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol

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
    /// The worker is gone; the request will be made once more in a fresh one.
    case retrying(bundle: String, after: ExtensionError)
}

extension ExtensionEvent {
    /// Whose extension it is.
    public var bundle: String {
        switch self {
        case .started(let bundle, _), .output(let bundle, _), .log(let bundle, _, _), .donated(let bundle, _),
            .retrying(let bundle, _):
            bundle
        }
    }
}
