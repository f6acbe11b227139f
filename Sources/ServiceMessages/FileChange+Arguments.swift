// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SystemSupport

extension [FileChange] {
    /// The maximum number of changes in a request.
    public static let maximumCount = 1024

    /// The changes as three lists of equal length: the kinds, the paths, and the earlier paths,
    /// which are only used for moved files.
    var arguments: [BusValue] {
        [
            .strings(map(\.kind.rawValue)), .strings(map { $0.paths.last ?? "" }),
            .strings(map { $0.paths.first ?? "" }),
        ]
    }

    /// Reads the lists.
    ///
    /// - Throws: ``BusError/malformed(_:)`` if the lists have different lengths, or for unknown
    ///   kinds, too many changes or relative paths.
    init(_ arguments: inout BusArguments) throws(BusError) {
        let (kinds, paths, earlier) = (try arguments.strings(), try arguments.strings(), try arguments.strings())
        guard kinds.count <= Self.maximumCount, kinds.count == paths.count, kinds.count == earlier.count else {
            throw .malformed(
                "UpdateFiles has \(kinds.count) kinds, \(paths.count) paths and \(earlier.count) earlier paths")
        }
        self = []
        for (index, name) in kinds.enumerated() {
            let (path, before) = (paths[index], earlier[index])
            guard let kind = FileChange.Kind(rawValue: name), path.hasPrefix("/"), before.hasPrefix("/") else {
                throw .malformed("UpdateFiles has a change of an unknown kind, or of a path that is not absolute")
            }
            switch kind {
            case .changed: append(.changed(path: path))
            case .moved: append(.moved(from: before, to: path))
            case .removed: append(.removed(path: path))
            }
        }
    }
}

extension FileChange {
    /// The kinds of changes.
    enum Kind: String {
        case changed, moved, removed
    }

    var kind: Kind {
        switch self {
        case .changed: .changed
        case .moved: .moved
        case .removed: .removed
        }
    }
}
