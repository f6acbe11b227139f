// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The arguments of a `PropertiesChanged` signal.
struct PropertyChange {
    var path: String
    var interface: String
    var changed: [String: ForeignValue]
    /// The properties that changed but whose values were not reported.
    var invalidated: [String]

    init?(_ signal: BusSignal) {
        guard signal.member == BusMember(BusService.properties, "PropertiesChanged"), signal.arguments.count == 3,
            let interface = signal.arguments[0].text
        else { return nil }
        path = signal.path
        self.interface = interface
        changed = signal.arguments[1].entries
        invalidated = signal.arguments[2].members.compactMap(\.text)
    }
}
