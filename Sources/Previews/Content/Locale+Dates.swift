// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Locale {
    /// The user's locale for dates. On Linux, `Locale.current` ignores the environment.
    package static let ofDates = Locale(datesIn: ProcessInfo.processInfo.environment)

    /// Creates the locale for dates in an environment: the first non-empty variable of `LC_ALL`,
    /// `LC_TIME` and `LANG`. Without one, and for `C` and `POSIX`, it is international English.
    package init(datesIn environment: [String: String]) {
        let name = ["LC_ALL", "LC_TIME", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        // `de_AT.UTF-8@euro` becomes `de_AT`.
        let identifier = String(name.prefix { $0 != "." && $0 != "@" })
        let isName = identifier.utf8.allSatisfy { byte in
            (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
        self.init(identifier: isName && !["", "C", "POSIX"].contains(identifier) ? identifier : "en_001")
    }
}
