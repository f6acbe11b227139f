// SPDX-License-Identifier: Apache-2.0
import CFiles
import Glibc
import ServiceMessages

/// One delivery with its destination and options.
struct SingleDelivery {
    let destination: Destination
    let token: UInt64
    let options: DeliveryOptions

    func deliver(_ payload: Payload) throws(PromiseError) -> DeliveryReport {
        let pace = Pace(options.limits, control: options.control)
        return try withOutput(pace) { (output, staged) throws(PromiseError) in
            try staged(payload.length)
            switch payload {
            case .inline(let bytes):
                try bytes.span.withUnsafeBytes { (buffer) throws(PromiseError) in try output.write(buffer) }
                return UInt64(bytes.count)
            case .stream(let descriptor, let length):
                var relay = Relay(to: output, patience: options.limits.patience)
                var source = ByteSource(stream: descriptor.number, pace: pace)
                let copied = try source.read(limit: length, for: output.path) { (bytes) throws(PromiseError) in
                    try relay.take(bytes)
                }
                guard copied == length else { throw .wrongLength(expected: length, received: copied) }
                try relay.finish()
                return copied
            }
        }
    }

    func deliver(_ file: FileReply) throws(PromiseError) -> DeliveryReport {
        let status = try Self.status(of: file)
        if status.st_mode & S_IFMT == S_IFDIR { return try deliver(folder: file) }
        let length = UInt64(max(0, status.st_size))
        let pace = Pace(options.limits, control: options.control, isBounded: false)
        return try withOutput(pace, from: status) { (output, staged) throws(PromiseError) in
            let copy = FileCopy(source: file.descriptor.number, status: status, output: output, pace: pace)
            if output.isFile, output.digest == nil {
                if try !copy.clone() {
                    try staged(copy.neededBytes)
                    try copy.copy()
                }
            } else {
                if output.isFile { try staged(length) }
                // One byte more than the declared length is enough to detect that the file has
                // grown.
                var source = ByteSource(file: file.descriptor.number, pace: pace)
                let copied = try source.read(limit: length + 1, for: output.path) { (bytes) throws(PromiseError) in
                    try output.write(bytes)
                }
                guard copied == length else { throw .wrongLength(expected: length, received: copied) }
            }
            if output.isFile { copy.keepTime() }
            return length
        }
    }

    /// Returns the status of a provider's file: a readable regular file or folder.
    static func status(of file: FileReply) throws(PromiseError) -> stat {
        var status = stat()
        guard fstat(file.descriptor.number, &status) == 0 else {
            throw .inputOutput(operation: "Reading", path: file.name, code: errno)
        }
        guard [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT), cfiles_is_readable(file.descriptor.number) == 1
        else { throw .inputOutput(operation: "Reading", path: file.name, code: EINVAL) }
        return status
    }

    /// Opens the destination, calls a closure that writes to it, and closes it.
    ///
    /// - Parameters:
    ///   - original: The file status (`fstat`) of the original. A new file becomes executable if
    ///     the original is.
    ///   - fill: Writes the content, and returns the number of bytes. Its second argument checks
    ///     that there is room for a number of bytes.
    private func withOutput(
        _ pace: Pace, from original: stat? = nil,
        _ fill: (ByteSink, (UInt64) throws(PromiseError) -> Void) throws(PromiseError) -> UInt64
    ) throws(PromiseError) -> DeliveryReport {
        let digest = options.wantsDigest ? try RunningDigest() : nil
        try pace.checkCancelled()
        switch destination {
        case .stream(let descriptor):
            let bytes = try fill(ByteSink(descriptor, path: "the output", control: pace.control, digest: digest)) { _ in
            }
            return DeliveryReport(bytes: bytes, path: nil, digest: digest?.finish())
        case .file(let path):
            switch try FileTarget.find(path) {
            case .stream(let path, let isSocket):
                let streams = options.streams ?? OpenStreams()
                let stream = try streams.stream(path) { () throws(PromiseError) in
                    try FileTarget.open(stream: path, isSocket: isSocket, pace)
                }
                let bytes = try fill(ByteSink(stream.number, path: path, control: pace.control, digest: digest)) { _ in
                }
                return DeliveryReport(bytes: bytes, path: path, digest: digest?.finish())
            case .regular(let target, let existing):
                return try stage(target, existing, shownAs: path, nil, original, pace, digest, fill)
            }
        case .folder(let path, let name):
            let target = try FileTarget.folder(existing: path) + name.numbered(1)
            return try stage(target, nil, shownAs: target, name, original, pace, digest, fill)
        }
    }

    private func stage(
        _ target: String, _ existing: stat?, shownAs path: String, _ name: FileName?, _ original: stat?, _ pace: Pace,
        _ digest: RunningDigest?,
        _ fill: (ByteSink, (UInt64) throws(PromiseError) -> Void) throws(PromiseError) -> UInt64
    ) throws(PromiseError) -> DeliveryReport {
        let staged = try StagedFile.create(
            for: target, existing: existing, token: token, isProgram: (original?.st_mode ?? 0) & 0o100 != 0)
        let number = staged.number
        let bytes = try fill(ByteSink(number, path: path, control: pace.control, digest: digest)) {
            (length) throws(PromiseError) in
            try StagedFile.checkRoom(for: length, on: number, path: path)
        }
        // If the delivery is cancelled before the file appears, no file must be left behind.
        try pace.checkCancelled()
        let shown: String
        if let name {
            shown = try staged.commit(as: name)
        } else {
            try staged.commit()
            shown = path
        }
        return DeliveryReport(bytes: bytes, path: shown, digest: digest?.finish())
    }

    // MARK: Folders

    private func deliver(folder: FileReply) throws(PromiseError) -> DeliveryReport {
        let pace = Pace(options.limits, control: options.control, isBounded: false)
        let (target, name) = try folderTarget()
        let measured = TreeWalk(options.tree, pace)
        try measured.go(folder.descriptor.number, to: nil, name: folder.name)
        let staged = try StagedFolder.create(for: target, token: token)
        try StagedFile.checkRoom(for: measured.size.neededBytes, on: staged.number, path: target)
        let copied = TreeWalk(options.tree, pace)
        try copied.go(folder.descriptor.number, to: staged.number, name: folder.name)
        guard copied.size.entries == measured.size.entries, copied.size.bytes == measured.size.bytes else {
            throw .wrongLength(expected: measured.size.bytes, received: copied.size.bytes)
        }
        try pace.checkCancelled()
        return DeliveryReport(bytes: copied.size.bytes, path: try staged.commit(as: name), digest: nil)
    }

    private func folderTarget() throws(PromiseError) -> (path: String, name: FileName?) {
        switch destination {
        case .stream:
            throw .inputOutput(operation: "Writing a folder to", path: "the output", code: EISDIR)
        case .folder(let path, let name): return (try FileTarget.folder(existing: path) + name.numbered(1), name)
        case .file(let path):
            var status = stat()
            guard lstat(path, &status) != 0 else {
                throw .inputOutput(operation: "Writing a folder to", path: path, code: EEXIST)
            }
            var free = path
            while free.count > 1, free.hasSuffix("/") { free.removeLast() }
            guard case .regular(let target, _) = try FileTarget.find(free) else {
                throw .inputOutput(operation: "Writing a folder to", path: path, code: EEXIST)
            }
            return (target, nil)
        }
    }
}
