// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol

extension WorkerRequest {
    /// The purpose of ``load(_:)``, which is not tried twice.
    static let loadPurpose = "load"

    /// What is asked, as the rest of "was asked to".
    var purpose: String {
        switch self {
        case .load: Self.loadPurpose
        case .reindexAll: "reindex everything"
        case .reindexItems(let identifiers): "reindex \(identifiers.count) items"
        case .provideData(let item, let type): "provide \(item) as data of type \(type)"
        case .provideFile(let item, let type, _): "provide \(item) as a file of type \(type)"
        case .preview(let item, _, _): "preview \(item)"
        case .didThrottle: "slow down"
        case .didFinishThrottle: "speed up"
        }
    }

    /// Whether the extension may donate and delete until it has acknowledged.
    var isReindex: Bool {
        switch self {
        case .reindexAll, .reindexItems: true
        default: false
        }
    }

    /// How long it may take.
    func limit(_ limits: WorkerConfiguration.Limits) -> RequestLimit {
        switch self {
        case .load: RequestLimit(idle: limits.load, total: limits.load)
        case .reindexAll, .reindexItems: RequestLimit(idle: limits.progress, total: limits.reindex)
        case .provideData, .provideFile, .preview, .didThrottle, .didFinishThrottle:
            RequestLimit(idle: limits.answer, total: limits.answer)
        }
    }
}
