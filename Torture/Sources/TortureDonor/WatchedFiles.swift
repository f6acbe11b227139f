// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import SearchIndex
import TortureSupport

/// The system's file operations, with the log's commit points.
struct WatchedFiles: LogFiles {
    private let files = SystemLogFiles()
    let watch: PointWatch

    func createFolder(_ path: String) throws(LogFileError) { try files.createFolder(path) }
    func names(in folder: String) throws(LogFileError) -> [String] { try files.names(in: folder) }

    func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile {
        let file = try files.open(path, for: mode)
        if path.hasSuffix(".new") { watch.pass(.newFileCreated) }
        return mode == .read ? file : WatchedFile(file: file, kind: WatchedFile.Kind(path), watch: watch)
    }

    func rename(_ path: String, to other: String) throws(LogFileError) {
        try files.rename(path, to: other)
        if path.hasSuffix(".new") { watch.pass(.newFileRenamed) }
    }

    func remove(_ path: String) throws(LogFileError) {
        watch.pass(.beforeRemoval)
        try files.remove(path)
        watch.pass(.afterRemoval)
    }

    func synchronizeFolder(_ path: String) throws(LogFileError) {
        try files.synchronizeFolder(path)
        watch.pass(.folderSynchronized)
    }
}

struct WatchedFile: LogFile {
    enum Kind {
        case segment, newFile, note, other

        init(_ path: String) {
            if path.hasSuffix(".journal") {
                self = .segment
            } else if path.hasSuffix(".new") {
                self = .newFile
            } else {
                self = path.hasSuffix("/journal.head") ? .note : .other
            }
        }

        /// The points before, during and after a write.
        var ofWriting: (CommitPoint?, CommitPoint?, CommitPoint?) {
            switch self {
            case .segment: (.beforeGroupWrite, .halfGroupWrite, .afterGroupWrite)
            case .newFile: (nil, .halfNewFileWrite, .newFileWritten)
            case .note: (nil, .halfNoteWrite, .afterNoteWrite)
            case .other: (nil, nil, nil)
            }
        }

        var ofSynchronizing: CommitPoint? {
            switch self {
            case .segment: .afterGroupSync
            case .newFile: .newFileSynchronized
            case .note: .afterNoteSync
            case .other: nil
            }
        }
    }

    let file: any LogFile
    let kind: Kind
    let watch: PointWatch

    func size() throws(LogFileError) -> Int { try file.size() }
    func read(at offset: Int, count: Int) throws(LogFileError) -> [UInt8] {
        try file.read(at: offset, count: count)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LogFileError) -> Int {
        let (before, amid, after) = kind.ofWriting
        if let before { watch.pass(before) }
        if let amid, watch.isReached(amid) {
            _ = try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), at: offset)
            PointWatch.die()
        }
        let written = try file.write(bytes, at: offset)
        if let after { watch.pass(after) }
        return written
    }

    func synchronize() throws(LogFileError) {
        try file.synchronize()
        if let point = kind.ofSynchronizing { watch.pass(point) }
    }

    func truncate(to size: Int) throws(LogFileError) {
        watch.pass(.beforeCut)
        try file.truncate(to: size)
        watch.pass(.afterCut)
    }
}
