// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import ServiceMessages
import SystemSupport

// The host's requests as calls to the extension's functions. All except throttle notices begin with
// the request number.
extension WorkerRequest {
    /// `SEARCHLIGHT_CHANGED`, `SEARCHLIGHT_MOVED` and `SEARCHLIGHT_REMOVED`
    private enum ChangeKind {
        static let changed: Int64 = 1
        static let moved: Int64 = 2
        static let removed: Int64 = 3
    }

    /// `SEARCHLIGHT_CLASS_COMPLETE_UNLESS_OPEN` and `SEARCHLIGHT_CLASS_COMPLETE`
    private static let classes: [(number: Int64, protection: ProtectionClass)] = [
        (1, .completeUnlessOpen), (2, .complete),
    ]

    /// Returns the call to the extension; `nil` for a request that is not a call.
    ///
    /// - Parameter number: The number of the request in the worker.
    package func boundaryCall(_ number: UInt64) -> (kind: HostCallKind, arguments: [BoundaryValue])? {
        let request = BoundaryValue.integer(Int64(bitPattern: number))
        switch self {
        case .reindexAll: return (.reindexAll, [request])
        case .reindexItems(let identifiers):
            return (.reindexItems, [request, .list(identifiers.map { BoundaryValue($0) })])
        case .reindexEncrypted(let items):
            return (
                .reindexEncrypted,
                [
                    request, BoundaryValue(items.index), .integer(Self.number(of: items.protection)),
                    .list(items.identifiers.map { BoundaryValue($0) }),
                ]
            )
        case .reindexPage(let page):
            return (
                .reindexPage,
                [
                    request, page.cursor.map { .bytes($0) } ?? .null, .integer(Int64(bitPattern: page.memoryLimit)),
                    .integer(Int64(page.items)), .integer(Int64(page.milliseconds)),
                ]
            )
        case .updateFiles(let changes):
            let values = changes.map { change -> BoundaryValue in
                switch change {
                case .changed(let path): .list([.integer(ChangeKind.changed), BoundaryValue(path), .null])
                case .moved(let old, let new):
                    .list([.integer(ChangeKind.moved), BoundaryValue(new), BoundaryValue(old)])
                case .removed(let path): .list([.integer(ChangeKind.removed), BoundaryValue(path), .null])
                }
            }
            return (.updateFiles, [request, .list(values)])
        case .provideData(let item, let type):
            return (.provideData, [request, BoundaryValue(item), BoundaryValue(type)])
        case .provideFile(let item, let type, let inPlace):
            return (.provideFile, [request, BoundaryValue(item), BoundaryValue(type), .integer(inPlace ? 1 : 0)])
        case .preview(let item, let query, let contentPath):
            let texts = [query, contentPath].map { $0.map { BoundaryValue($0) } ?? .null }
            return (.preview, [request, BoundaryValue(item)] + texts)
        case .didThrottle(let notice):
            return (
                .didThrottle, [.integer(Int64(notice.reason.rawValue)), BoundaryValue(notice.itemsPerSecond)]
            )
        case .didFinishThrottle: return (.didFinishThrottle, [])
        default: return nil
        }
    }

    private static func number(of protection: ProtectionClass) -> Int64 {
        classes.first { $0.protection == protection }?.number ?? 0
    }

    /// Creates the request for a recorded call; `nil` for a callback, a load and invalid arguments.
    package init?(_ kind: HostCallKind, _ arguments: [BoundaryValue]) {
        func text(_ index: Int) -> String? { index < arguments.count ? arguments[index].string : nil }
        func integer(_ index: Int) -> Int64? { index < arguments.count ? arguments[index].integer : nil }
        switch kind {
        case .reindexAll: self = .reindexAll
        case .reindexItems:
            guard arguments.count == 2, let names = arguments[1].list?.map(\.string), !names.contains(nil) else {
                return nil
            }
            self = .reindexItems(names.compactMap(\.self))
        case .reindexEncrypted:
            guard arguments.count == 4, let index = text(1), !index.isEmpty,
                let protection = Self.classes.first(where: { $0.number == integer(2) })?.protection,
                let names = arguments[3].list?.map(\.string), !names.contains(nil)
            else { return nil }
            self = .reindexEncrypted(
                EncryptedItems(index: index, protection: protection, identifiers: names.compactMap(\.self)))
        case .reindexPage:
            guard let memory = integer(2), let items = integer(3).flatMap(UInt32.init(exactly:)),
                let milliseconds = integer(4).flatMap(UInt32.init(exactly:))
            else { return nil }
            var cursor: [UInt8]?
            if case .bytes(let bytes) = arguments[1] { cursor = bytes }
            guard cursor?.count ?? 0 <= ReindexPage.maximumCursorBytes else { return nil }
            self = .reindexPage(
                ReindexPage(
                    cursor: cursor, items: items, milliseconds: milliseconds, memoryLimit: UInt64(bitPattern: memory)))
        case .updateFiles:
            guard arguments.count == 2, let values = arguments[1].list else { return nil }
            let changes = values.map { value -> FileChange? in
                guard let fields = value.list, fields.count == 3, let path = fields[1].string else { return nil }
                switch fields[0].integer {
                case ChangeKind.changed: return .changed(path: path)
                case ChangeKind.moved: return fields[2].string.map { .moved(from: $0, to: path) }
                case ChangeKind.removed: return .removed(path: path)
                default: return nil
                }
            }
            guard !changes.contains(nil) else { return nil }
            self = .updateFiles(changes.compactMap(\.self))
        case .provideData:
            guard let item = text(1), let type = text(2) else { return nil }
            self = .provideData(item: item, type: type)
        case .provideFile:
            guard let item = text(1), let type = text(2), let inPlace = integer(3) else { return nil }
            self = .provideFile(item: item, type: type, inPlace: inPlace != 0)
        case .preview:
            guard let item = text(1) else { return nil }
            self = .preview(item: item, query: text(2), contentPath: text(3))
        case .didThrottle:
            guard let raw = integer(0), arguments.count == 2, let rate = arguments[1].number else { return nil }
            let reason = ThrottleNotice.Reason(rawValue: UInt64(bitPattern: raw)) ?? .other
            self = .didThrottle(ThrottleNotice(reason: reason, itemsPerSecond: rate))
        case .didFinishThrottle: self = .didFinishThrottle
        case .load, .completion, .state, .listing, .cancel: return nil
        }
    }
}
