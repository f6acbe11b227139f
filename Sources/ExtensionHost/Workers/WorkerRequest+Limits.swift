// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

extension WorkerRequest {
    /// The purpose of ``load(_:)``, which is not retried.
    static let loadPurpose = "load"

    /// The purpose of the request, to complete "was asked to". It names no item, because it is
    /// recorded, and no file may name an item of an encrypted index.
    package var purpose: String {
        switch self {
        case .load: Self.loadPurpose
        case .recordBoundary: "record its calls"
        case .reindexAll: "reindex everything"
        case .reindexPage: "reindex a page"
        case .reindexItems(let identifiers): "reindex \(identifiers.count) items"
        case .reindexEncrypted(let items): "reindex \(items.identifiers.count) encrypted items"
        case .reindexUnlocked: "reindex everything that is not locked"
        case .updateFiles(let changes): "update the items of \(changes.count) files"
        case .provideData(_, let type): "provide an item as data of type \(type)"
        case .provideFile(_, let type, _): "provide an item as a file of type \(type)"
        case .preview: "preview an item"
        case .didThrottle: "slow down"
        case .didFinishThrottle: "speed up"
        case .cancel: "stop"
        }
    }

    /// `true` if the extension may donate and delete until it has acknowledged the request.
    var isReindex: Bool {
        switch self {
        case .reindexAll, .reindexPage, .reindexItems, .reindexEncrypted, .reindexUnlocked, .updateFiles: true
        default: false
        }
    }

    /// `true` if a worker can be notified that the request is cancelled.
    var canBeCancelled: Bool {
        switch self {
        case .load, .recordBoundary, .didThrottle, .didFinishThrottle, .cancel: false
        default: true
        }
    }

    /// The total limit for a load that gets no processor time, as a multiple of the normal limit.
    private static let starvedLoads = 12

    /// Returns the time limits for the request.
    func limit(_ limits: WorkerConfiguration.Limits) -> RequestLimit {
        switch self {
        case .load, .recordBoundary:
            RequestLimit(first: limits.load, idle: limits.load, total: limits.load * Self.starvedLoads)
        case .reindexAll, .reindexPage, .reindexItems, .reindexEncrypted, .reindexUnlocked, .updateFiles:
            RequestLimit(first: limits.firstSign, idle: limits.progress, total: limits.reindex)
        case .provideData, .provideFile, .preview:
            RequestLimit(first: limits.firstSign, idle: limits.progress, total: limits.answer)
        case .didThrottle, .didFinishThrottle, .cancel:
            RequestLimit(first: limits.notice, idle: limits.notice, total: limits.notice)
        }
    }
}
