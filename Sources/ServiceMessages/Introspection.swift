// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// Answers the introspection calls of bus tools (org.freedesktop.DBus.Introspectable). sd-bus
/// answers `Peer` by itself.
public enum Introspection {
    private static let introspect = BusMember("org.freedesktop.DBus.Introspectable", "Introspect")
    private static let properties = "org.freedesktop.DBus.Properties"

    /// Answers an introspection or property call; returns `false` for other calls.
    public static func answer(_ call: IncomingCall) -> Bool {
        if call.member == introspect {
            call.reply([.string(document(of: call.path))])
            return true
        }
        guard call.member.interface == properties else { return false }
        if call.member.member == "GetAll" {
            call.reply([.dictionary([:])])
        } else {
            call.refuse(
                name: "org.freedesktop.DBus.Error.UnknownProperty", message: "This object has no properties.")
        }
        return true
    }

    /// Returns the introspection document for a path. The methods of Promise1 and Engine2 are
    /// omitted, because their answers have one of several types, which the format cannot express.
    static func document(of path: String) -> String {
        let whole = String(decoding: PackageResources.Introspection_xml, as: UTF8.self)
        let head = whole.firstRange(of: "<node>\n").map { whole[..<$0.upperBound] } ?? ""
        switch path {
        case BusTarget.searchlightPath: return whole
        case "/com": return head + " <node name=\"searchlight\"/>\n</node>\n"
        case "/": return head + " <node name=\"com\"/>\n</node>\n"
        default: return head + "</node>\n"
        }
    }
}
