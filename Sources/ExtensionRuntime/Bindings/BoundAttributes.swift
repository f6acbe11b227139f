// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import ServiceMessages
import SymbolBindings

/// An extension's bindings that set attributes of its items during a donation (`serve attributes`).
struct BoundAttributes: Sendable {
    private let bindings: [PreparedBinding]
    private let bundle: BoundBundle

    init(_ bindings: [PreparedBinding], bundle: BoundBundle) {
        self.bindings = bindings.filter { if case .attributes = $0.binding.purpose { true } else { false } }
        self.bundle = bundle
    }

    /// Returns the item with the attributes set by all bindings for its content type.
    ///
    /// An attribute that cannot be determined is omitted with a warning. An item that lacks an
    /// attribute is better than no item.
    func complete(_ item: ItemRecord, for receiver: any CallbackReceiver) -> ItemRecord {
        guard !bindings.isEmpty else { return item }
        let types = item.texts("contentType") + item.texts("contentTypeTree")
        var item = item
        for binding in bindings where binding.binding.isFor(types) && !receiver.isOver {
            // A missing library was already reported when the bindings were loaded.
            guard let calls = try? binding.calls.get() else { continue }
            let sources = RequestSources(bundle: bundle)
            sources.record = item
            let named = ItemWarnings(receiver: receiver, item: item.uniqueIdentifier)
            let run = BindingRun(calls, sources: sources, receiver: named, leavesOut: true)
            do throws(BindingFailure) {
                try run.perform()
                for attribute in binding.binding.attributes {
                    guard let value = try AttributeValue(try run.value(attribute.value)) else { continue }
                    item.attributes[attribute.name] = value
                }
            } catch {
                named.warn(error.message)
            }
        }
        return item
    }
}

/// A receiver for bindings that set one item's attributes. Its warnings name the item.
private struct ItemWarnings: CallbackReceiver {
    let receiver: any CallbackReceiver
    let item: String

    func acknowledge(_ failure: BindingFailure?) {}
    func report(completed: UInt64, total: UInt64) { receiver.report(completed: completed, total: total) }
    func donate(_ item: ItemRecord) {}
    func wants(_ identifier: String) -> Bool { false }
    var isOver: Bool { receiver.isOver }
    func warn(_ message: String) {
        receiver.warn("Attributes of \(item) are skipped: \(message)")
        leaveOut(LeftOut(name: item, reason: "some of its attributes cannot be determined"))
    }
    func leaveOut(_ what: LeftOut) { receiver.leaveOut(what) }
    func misuse(_ rule: HostRequest.Misuse, _ message: String) { receiver.misuse(rule, message) }
}
