// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

/// The search for the items of a batch, or the changed files, with which an extension fails: a batch that fails is halved until
/// one is left. A pure value: its owner asks for ``next()`` and says how that went.
struct BatchHalving<Item: Sendable> {
    /// What is still to be asked for; the last part is next.
    private var parts: [ArraySlice<Item>]
    /// Whether the next part is one item that has failed once; a crash need not be its doing.
    private var isSecondTry = false
    /// The items with which the extension fails, and how.
    private(set) var guilty: [(item: Item, error: ExtensionError)] = []
    /// The items that did no harm.
    private(set) var done: [Item] = []
    /// How often a part failed.
    private(set) var failures = 0
    /// How the first part failed that did.
    private(set) var firstFailure: ExtensionError?
    private let limits: WorkerConfiguration.Limits

    init(_ items: [Item], _ limits: WorkerConfiguration.Limits) {
        parts = items.isEmpty ? [] : [items[...]]
        self.limits = limits
    }

    /// What to ask for next; `nil` once there is nothing more, or no sense in going on.
    func next() -> [Item]? { isGivenUp ? nil : parts.last.map(Array.init) }

    /// Whether so much fails that it is not the items' fault.
    var isGivenUp: Bool { guilty.count > limits.itemsSetAside || failures >= limits.lostWorkers }

    /// Notes that the last part went well.
    mutating func succeeded() {
        if let part = parts.popLast() { done += part }
        isSecondTry = false
    }

    /// Notes that the last part failed.
    mutating func failed(_ error: ExtensionError) {
        guard let part = parts.popLast() else { return }
        failures += 1
        if firstFailure == nil { firstFailure = error }
        if part.count > 1 {
            let middle = part.startIndex + part.count / 2
            parts.append(part[middle...])
            parts.append(part[..<middle])
        } else if !isSecondTry, error.isWorthAnotherTry {
            isSecondTry = true
            parts.append(part)
        } else if let item = part.first {
            isSecondTry = false
            guilty.append((item, error))
        }
    }

    /// The items to set aside. If nothing went well and too much failed, it is nobody's fault but the extension's.
    var setAside: [(item: Item, error: ExtensionError)] {
        isGivenUp && done.isEmpty ? [] : Array(guilty.prefix(limits.itemsSetAside))
    }

    /// Whether the failures are held against the extension: they are not if items are guilty of them and others did no harm.
    var isExtensionAtFault: Bool { failures > 0 && (isGivenUp || guilty.isEmpty || done.isEmpty) }
}

extension ExtensionError {
    /// Whether an item may be the reason, so that the extension may do without it.
    var mayBeAnItems: Bool {
        switch self {
        case .crashed(_, let during, _, _), .timedOut(_, let during, _), .memoryExceeded(_, let during, _, _):
            during != WorkerRequest.loadPurpose
        default: false
        }
    }

    /// Whether a changed file may be the reason. An extension that answers that it cannot may mean one of them; one that lacks
    /// something for now means none.
    var mayBeAFiles: Bool {
        switch self {
        case .failed(_, _, .unavailable, _), .failed(_, _, .unsupported, _), .failed(_, _, .cancelled, _): false
        case .failed: true
        default: mayBeAnItems
        }
    }

    /// Whether a fresh worker may do better.
    var isWorthAnotherTry: Bool {
        if case .crashed(_, let during, _, _) = self { during != WorkerRequest.loadPurpose } else { false }
    }
}
