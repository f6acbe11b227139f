// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

/// A bisection that finds the failing items or files in a batch. A failing batch is halved until
/// one item is left. A pure value: its owner requests the part from ``next()`` and reports the
/// outcome.
struct BatchBisection<Item: Sendable> {
    /// The parts that are still to be tried, in reverse order.
    private var parts: [ArraySlice<Item>]
    /// `true` if the next part is one item that has failed once. A crash may have another cause, so
    /// the item is tried again.
    private var isSecondTry = false
    /// The items that made the extension fail, with their errors.
    private(set) var guilty: [(item: Item, error: ExtensionError)] = []
    /// The items that succeeded.
    private(set) var done: [Item] = []
    /// The number of failed parts.
    private(set) var failures = 0
    /// The error of the first failed part.
    private(set) var firstFailure: ExtensionError?
    private let limits: WorkerConfiguration.Limits

    init(_ items: [Item], _ limits: WorkerConfiguration.Limits) {
        parts = items.isEmpty ? [] : [items[...]]
        self.limits = limits
    }

    /// Returns the next part; `nil` if the search is complete or abandoned.
    func next() -> [Item]? { isGivenUp ? nil : parts.last.map(Array.init) }

    /// `true` if the number of failed parts shows that the items are probably not the cause.
    var isGivenUp: Bool { guilty.count > limits.itemsSetAside || failures >= limits.lostWorkers }

    /// Records the success of the last part.
    mutating func succeeded() {
        if let part = parts.popLast() { done += part }
        isSecondTry = false
    }

    /// Records the failure of the last part.
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

    /// The items to skip-list. If too many parts failed and none succeeded, the extension is the
    /// cause, and the array is empty.
    var setAside: [(item: Item, error: ExtensionError)] {
        isGivenUp && done.isEmpty ? [] : Array(guilty.prefix(limits.itemsSetAside))
    }

    /// `true` if the failures count against the extension. They do not count if some items failed
    /// and others succeeded.
    var isExtensionAtFault: Bool { failures > 0 && (isGivenUp || guilty.isEmpty || done.isEmpty) }
}

extension ExtensionError {
    /// `true` if one item may be the cause, so that the extension may work if the item is skipped.
    var mayBeAnItems: Bool {
        switch self {
        case .crashed(_, let during, _, _), .timedOut(_, let during, _), .memoryExceeded(_, let during, _, _):
            during != WorkerRequest.loadPurpose
        default: false
        }
    }

    /// `true` if one changed file may be the cause. A “failed” status may concern one of the files;
    /// an “unavailable” status concerns none of them.
    var mayBeAFiles: Bool {
        switch self {
        case .failed(_, _, .unavailable, _), .failed(_, _, .unsupported, _), .failed(_, _, .cancelled, _): false
        case .failed: true
        default: mayBeAnItems
        }
    }

    /// `true` if a fresh worker may succeed.
    var isWorthAnotherTry: Bool {
        if case .crashed(_, let during, _, _) = self { during != WorkerRequest.loadPurpose } else { false }
    }
}
