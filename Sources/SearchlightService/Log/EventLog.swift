// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Synchronization

/// Logs the extensions' events. Each bundle has its own line allowance.
final class EventLog: Sendable {
    private let log: ServiceLog
    private let allowances = Mutex<[String: LogAllowance]>([:])

    /// The maximum number of bundles with their own allowance; the others share one.
    private static let maximumBundles = 1024

    init(_ log: ServiceLog) { self.log = log }

    func write(_ event: ExtensionEvent) {
        guard let (level, message) = Self.line(event) else { return }
        log.write(level, allowance(event.bundle), "\(event.bundle): \(message)")
    }

    private func allowance(_ bundle: String) -> LogAllowance {
        allowances.withLock { allowances in
            let name = allowances[bundle] != nil || allowances.count < Self.maximumBundles ? bundle : ""
            if let known = allowances[name] { return known }
            let new = log.allowance()
            allowances[name] = new
            return new
        }
    }

    /// Returns the level and text of an event's log line; `nil` for events that are not logged,
    /// such as donations.
    private static func line(_ event: ExtensionEvent) -> (ServiceLog.Level, String)? {
        switch event {
        case .started(_, let process): (.info, "its worker is process \(process)")
        case .output(_, let line): (.info, "printed: \(line)")
        case .log(_, let level, let message):
            switch level {
            case .info: (.info, message)
            case .warning: (.warning, message)
            case .error: (.error, message)
            }
        case .retrying(_, let error): (.warning, "retried once, because: \(error.description)")
        case .refusal(_, let refusal): (.warning, "the sandbox refused: it \(refusal.description)")
        case .misuse(_, let rule, let message): (.warning, "broke a rule (\(rule.rawValue)): \(message)")
        case .setAside(_, let item, let reason):
            (.warning, "item \(item.debugDescription) is skip-listed, because the extension \(reason)")
        case .quarantined(_, let reason): (.error, "is in quarantine: it \(reason)")
        case .healthNotKept(_, let path, let reason):
            (.error, "how it behaves could not be written to \(path): \(reason)")
        // The bundle's account contains the omitted content (OmissionStore).
        case .donated, .progress, .confined, .libraryMemory, .leftOut: nil
        }
    }
}
