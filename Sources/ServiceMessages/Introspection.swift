// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// What tools of the bus are told of the interfaces (org.freedesktop.DBus.Introspectable). `Peer` is answered by sd-bus.
public enum Introspection {
    private static let introspect = BusMember("org.freedesktop.DBus.Introspectable", "Introspect")
    private static let properties = "org.freedesktop.DBus.Properties"

    /// Answers a call that is about the interfaces; says whether it was one.
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

    /// What there is at a path.
    static func document(of path: String) -> String {
        let head = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        switch path {
        case BusTarget.searchlightPath:
            return head + interfaces.map(\.xml).joined() + standard + "</node>\n"
        case "/com": return head + " <node name=\"searchlight\"/>\n</node>\n"
        case "/": return head + " <node name=\"com\"/>\n</node>\n"
        default: return head + "</node>\n"
        }
    }

    /// The arguments of a method, as `name type`.
    struct Method {
        let name: String
        let input: [String]
        var output: [String] = []
    }
    struct Interface {
        let name: String
        let methods: [Method]

        var xml: String {
            " <interface name=\"\(name)\">\n" + methods.map(\.xml).joined() + " </interface>\n"
        }
    }

    private static let page = ["number t", "query s", "filters as", "attributes as", "cursor ay", "limit t"]
    private static let preview = ["contentType s", "title s"]

    /// Without the methods whose answers have one of several forms, which the document cannot say: those of Promise1 and
    /// Engine2.
    static let interfaces: [Interface] = [
        Interface(
            name: LauncherRequest.interface,
            methods: [
                Method(name: "Search", input: ["text s", "options a{sv}"], output: ["items aa{sv}"]),
                Method(name: "Get", input: ["number t"], output: ["item a{sv}"]),
                Method(name: "Preview", input: ["number t", "query s"], output: preview + ["content ay"]),
                Method(
                    name: "PreviewFile", input: ["number t", "query s"], output: preview + ["content h", "length t"]),
                Method(name: "GetPreview", input: ["number t", "query s"], output: ["preview a{sv}"]),
            ]),
        Interface(
            name: Hello.member.interface,
            methods: [
                Method(
                    name: Hello.member.member, input: ["version t", "role s", "bundle s", "program s"],
                    output: ["serviceVersion s", "bundle s", "process t"])
            ]),
        Interface(
            name: IndexRequest.interface,
            methods: [
                Method(name: "IndexRecords", input: ["index s", "records ay"]),
                Method(name: "DeleteItems", input: ["index s", "identifiers as"]),
                Method(name: "DeleteDomains", input: ["index s", "domains as"]),
                Method(name: "DeleteAll", input: ["index s"]),
                Method(
                    name: "CommitBatch",
                    input: [
                        "index s", "changes ay", "clientState ay", "isExpected b", "isState b", "expected ay",
                    ]),
                Method(name: "ClientState", input: ["index s"], output: ["isState b", "state ay"]),
                Method(
                    name: "Record", input: ["index s", "identifier s"],
                    output: ["isThere b", "record ay", "types as"]),
            ]),
        Interface(
            name: QueryRequest.interface,
            methods: [
                Method(name: "Query", input: page, output: ["records ay", "next ay"]),
                Method(name: "Search", input: page, output: ["records ay", "next ay"]),
                Method(name: "Suggest", input: ["number t", "text s", "limit t"], output: ["texts as"]),
                Method(name: "Cancel", input: ["number t"]),
            ]),
        Interface(
            name: AppRequest.register.member.interface,
            methods: [Method(name: "Register", input: []), Method(name: "Unregister", input: [])]),
    ]

    private static let standard =
        Interface(
            name: introspect.interface, methods: [Method(name: introspect.member, input: [], output: ["xml s"])]
        ).xml + Interface(name: "org.freedesktop.DBus.Peer", methods: [Method(name: "Ping", input: [])]).xml
}

extension Introspection.Method {
    var xml: String {
        func arguments(_ list: [String], _ direction: String) -> String {
            list.map { argument in
                let parts = argument.split(separator: " ")
                return "   <arg name=\"\(parts[0])\" type=\"\(parts[1])\" direction=\"\(direction)\"/>\n"
            }.joined()
        }
        return "  <method name=\"\(name)\">\n" + arguments(input, "in") + arguments(output, "out") + "  </method>\n"
    }
}
