// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings
import Glibc
import ItemRecord
import ServiceMessages
import SystemSupport

/// Handles a database extension's requests, one at a time. It keeps the last copies, and reuses a
/// copy as long as the app has not written.
struct DatabaseWork {
    let binding: DatabaseBinding
    let files: DatabaseFiles
    let session: HostSession
    private let watch: ReadingWatch
    private let now: () -> Duration
    /// The open copies; the last used copy is at the end.
    private var readers: [DatabaseReader] = []
    /// The remaining rows after a cursor, from the copy that the previous page was read from.
    private var paging: (cursor: ReindexCursor, items: [FittedItem], rows: RowCursor, reader: DatabaseReader)?

    /// The maximum number of copies to keep.
    private static let maximumReaders = 4
    /// The maximum number of differing parts for which each item is compared with the index before
    /// it is donated.
    private static let comparedParts = 8

    init(_ binding: DatabaseBinding, session: HostSession, now: @escaping @Sendable () -> Duration) {
        self.binding = binding
        self.session = session
        self.now = now
        files = DatabaseFiles(binding)
        watch = ReadingWatch(now: now)
    }

    mutating func begin(_ request: UInt64) {
        let requests = session.requests
        var done: UInt64 = 0
        watch.serve(cancelled: { requests.isCancelled(request) }) {
            done += 1
            requests.report(request, completed: done, total: 0)
        }
    }

    mutating func end() { watch.serve(cancelled: { false }) {} }

    // MARK: Reading

    /// Returns a copy of a file in its current state.
    private mutating func reader(_ file: DatabaseFile) throws(BindingFailure) -> DatabaseReader {
        if let index = readers.firstIndex(where: { $0.path == file.path }) {
            let known = readers.remove(at: index)
            if known.stamp == DatabaseStamp(of: DatabaseSnapshot.location(of: file.path)) {
                readers.append(known)
                return known
            }
        }
        let made = try DatabaseReader(file.path, watch: watch)
        if readers.count >= Self.maximumReaders { readers.removeFirst() }
        readers.append(made)
        return made
    }

    /// Returns the identifier of a row; `nil` if its key cannot identify an item.
    private func identifier(_ row: Row, _ item: ItemBinding, _ file: DatabaseFile) -> (RowIdentifier, RowKey)? {
        guard let key = RowKey(row[item.key]) else { return nil }
        return (RowIdentifier(file: file.tag, item: item.name, key: key.text), key)
    }

    private func values(_ row: Row, _ item: ItemBinding) -> [RowValue] {
        item.changed.map { [row[$0]] } ?? row.values
    }

    private func leaveOut(_ file: DatabaseFile, _ item: ItemBinding) {
        session.leaveOut(
            LeftOut(name: file.path, reason: "a row of \(item.name) has no \(item.key) that can identify it"))
    }

    /// Returns the files, and reports paths that match none.
    private func found() -> DatabaseFiles.Found {
        let found = files.find()
        for path in found.absent + found.away {
            session.log(.info, "There is no database \(path). Its app may not be installed, or was never started.")
        }
        if found.isCut {
            session.log(
                .warning,
                "There are more than \(DatabaseLimits.matchedFiles) databases. Those after \(found.files.last?.path ?? "") are left out."
            )
        }
        return found
    }

    /// Checks, before everything is replaced, that no file with items is on a disk that is not
    /// mounted.
    private func checkThatNoneIsAway(_ found: DatabaseFiles.Found) throws(BindingFailure) {
        guard !found.away.isEmpty else { return }
        let present = Set(found.files.map(\.tag))
        // Reads one item of each file: “0” follows “/” in the order of the identifiers.
        var after = ""
        while let name = try session.identifiers(after: after, limit: 1).first {
            let tag = files.hasTags ? String(name.prefix { $0 != "/" }) : ""
            guard present.contains(tag) else {
                throw BindingFailure(
                    .unavailable,
                    """
                    the folder of \(found.away.joined(separator: ", ")) is not there; what was found in it stays as it was
                    """)
            }
            guard files.hasTags else { return }
            after = tag + "0"
        }
    }

    // MARK: Everything

    mutating func reindexPage(_ page: ReindexPage) throws(BindingFailure) -> [UInt8]? {
        var cursor: ReindexCursor?
        if let bytes = page.cursor {
            cursor = ReindexCursor(bytes, of: binding)
            guard cursor != nil else {
                throw BindingFailure(.invalidArgument, "the cursor was made for a different version of the manifest")
            }
        } else {
            try checkThatNoneIsAway(found())
        }
        return try self.page(
            from: cursor, items: Int(page.items), milliseconds: Int(page.milliseconds))?.bytes
    }

    /// Donates a page.
    ///
    /// - Returns: The next cursor; `nil` after the last page.
    /// - Throws: ``BindingFailure``, including after the last page if a file could not be read.
    private mutating func page(
        from cursor: ReindexCursor?, items: Int, milliseconds: Int
    ) throws(BindingFailure) -> ReindexCursor? {
        let now = self.now
        let end = now() + .milliseconds(milliseconds)
        var donations = RowDonations(session)
        let all = files.find().files
        var failure = cursor?.failure
        var position = cursor
        for file in all where file.path >= (cursor?.file ?? "") {
            if position?.file != file.path {
                position = ReindexCursor(file: file.path, digests: RowDigests(of: binding))
            }
            guard var place = position else { continue }
            place.failure = failure
            do throws(BindingFailure) {
                let isWhole = try donate(file, from: &place, &donations) {
                    donations in donations < items && now() < end
                }
                guard isWhole else {
                    try donations.finish()
                    return place
                }
                try donations.keep(place.digests.bytes, in: file.stateIndex)
            } catch {
                paging = nil
                guard error.status != .cancelled else { throw error }
                let message = Self.keepingItems(error).message
                failure = failure ?? message.cutTo(ReindexCursor.failureBytes)
                session.log(.warning, message)
            }
            position = nil
        }
        try donations.finish()
        if let failure { throw BindingFailure(.unavailable, failure) }
        return nil
    }

    /// Donates a file's rows, starting at a position.
    ///
    /// - Returns: `true` at the end of the file; `false` if the page is full. Then `place` is the
    ///   position after the page.
    private mutating func donate(
        _ file: DatabaseFile, from place: inout ReindexCursor, _ donations: inout RowDonations, goesOn: (Int) -> Bool
    ) throws(BindingFailure) -> Bool {
        var fitted: [FittedItem]
        var rows: RowCursor?
        let reader: DatabaseReader
        if let open = paging, open.cursor == place {
            (fitted, rows, reader) = (open.items, open.rows, open.reader)
        } else {
            reader = try self.reader(file)
            fitted = try SchemaCheck.fit(binding, reader)
        }
        paging = nil
        while place.item < fitted.count {
            let item = fitted[place.item]
            let cursor: RowCursor
            if let open = rows { cursor = open } else { cursor = try item.rows(reader, after: place.key) }
            rows = nil
            while let row = try cursor.next() {
                guard !watch.isCancelled else { throw BindingFailure(.cancelled, "the reindex was cancelled") }
                guard let (identifier, key) = identifier(row, item.binding, file) else {
                    leaveOut(file, item.binding)
                    continue
                }
                // Rows with the same key would be the same item; the first row is used.
                guard key != place.key else { continue }
                place.key = key
                place.digests.add(identifier.text, values(row, item.binding))
                donations.put(item.binding.record(row, identifier: identifier.text, domain: identifier.domain))
                if !goesOn(donations.donated) {
                    paging = (place, fitted, cursor, reader)
                    return false
                }
            }
            (place.item, place.key) = (place.item + 1, nil)
        }
        return true
    }

    // MARK: Changes

    mutating func updateFiles(_ paths: [String]) throws(BindingFailure) {
        var failure: BindingFailure?
        let changed = Set(paths.compactMap { files.database(of: $0) })
        let present = found().files
        for file in changed.sorted(by: { $0.path < $1.path }) {
            do throws(BindingFailure) {
                if present.contains(file) {
                    try update(file)
                } else if DatabaseFiles.isThere(file.path) {
                    session.log(.warning, "\(file.path) is left out: it is not a regular file, or one too many.")
                } else if DatabaseFiles.isFolderThere(of: file) {
                    try forget(file)
                } else {
                    throw BindingFailure(
                        .unavailable, "the folder of \(file.path) is not there; its items stay as they were")
                }
            } catch {
                guard error.status != .cancelled else { throw error }
                failure = failure ?? Self.keepingItems(error)
            }
        }
        if let failure { throw failure }
    }

    /// Returns the failure of an update or reindex for a file that cannot be understood, with what
    /// happens to the items.
    private static func keepingItems(_ error: BindingFailure) -> BindingFailure {
        guard error.status == .unsupported else { return error }
        return BindingFailure(error.status, error.message + ". Its items stay as they are")
    }

    /// Deletes the items of a removed file.
    private func forget(_ file: DatabaseFile) throws(BindingFailure) {
        var donations = RowDonations(session)
        donations.delete(
            domains: binding.items.map { RowIdentifier(file: file.tag, item: $0.name, key: "").domain })
        try donations.keep(RowDigests(of: binding).bytes, in: file.stateIndex)
    }

    /// Updates a file's items: donates the rows that differ from the index, and deletes the items
    /// whose rows no longer exist.
    private mutating func update(_ file: DatabaseFile) throws(BindingFailure) {
        let reader = try reader(file)
        let fitted = try SchemaCheck.fit(binding, reader)
        // If the index has no items of the file, a reindex during which the file was missing has
        // removed them, and the stored state is outdated.
        let former =
            try hasItems(file)
            ? session.clientState(of: file.stateIndex).flatMap { RowDigests($0, of: binding) } : nil
        var digests = RowDigests(of: binding)
        for item in fitted {
            let rows = try item.states(reader)
            while let row = try rows.next() {
                guard !watch.isCancelled else { throw BindingFailure(.cancelled, "the update was cancelled") }
                guard let (identifier, _) = identifier(row, item.binding, file) else { continue }
                digests.add(identifier.text, values(row, item.binding))
            }
        }
        let parts = former.map(digests.differences) ?? Set(0..<RowDigests.parts)
        guard !parts.isEmpty else { return }
        var donations = RowDonations(session)
        let there = try donate(file, fitted, reader, parts, isKnown: former != nil, &donations)
        try deleteGone(file, parts, there, &donations)
        try donations.keep(digests.bytes, in: file.stateIndex)
    }

    private func hasItems(_ file: DatabaseFile) throws(BindingFailure) -> Bool {
        let start = Self.prefix(of: file)
        return try session.identifiers(after: start, limit: 1).first?.hasPrefix(start) == true
    }

    /// Returns the common prefix of the identifiers of a file's items.
    private static func prefix(of file: DatabaseFile) -> String { file.tag.isEmpty ? "" : file.tag + "/" }

    /// Donates the rows in some parts that differ from the index.
    ///
    /// - Returns: The hashes of the identifiers that the parts contain.
    private func donate(
        _ file: DatabaseFile, _ fitted: [FittedItem], _ reader: DatabaseReader, _ parts: Set<Int>, isKnown: Bool,
        _ donations: inout RowDonations
    ) throws(BindingFailure) -> Set<UInt64> {
        var there: Set<UInt64> = []
        for item in fitted {
            let rows = try item.rows(reader, after: nil)
            var last: RowKey?
            while let row = try rows.next() {
                guard !watch.isCancelled else { throw BindingFailure(.cancelled, "the update was cancelled") }
                guard let (identifier, key) = identifier(row, item.binding, file) else {
                    leaveOut(file, item.binding)
                    continue
                }
                guard key != last else { continue }
                last = key
                guard parts.contains(RowDigests.part(of: identifier.text)) else { continue }
                there.insert(RowHash.of(identifier.text.utf8))
                let record = item.binding.record(row, identifier: identifier.text, domain: identifier.domain)
                if isKnown, parts.count <= Self.comparedParts, let known = try? session.record(of: identifier.text),
                    known.record == record
                {
                    continue
                }
                donations.put(record)
            }
        }
        return there
    }

    /// Deletes a file's items in some parts that have no row.
    private func deleteGone(
        _ file: DatabaseFile, _ parts: Set<Int>, _ there: Set<UInt64>, _ donations: inout RowDonations
    ) throws(BindingFailure) {
        let start = Self.prefix(of: file)
        var after = start
        while true {
            let names = try session.identifiers(after: after)
            let own = names.filter { $0.hasPrefix(start) }
            let gone = own.filter {
                parts.contains(RowDigests.part(of: $0)) && !there.contains(RowHash.of($0.utf8))
            }
            if !gone.isEmpty { donations.delete(gone) }
            guard own.count == IndexRequest.maximumIdentifiers, let last = own.last else { return }
            after = last
        }
    }

    // MARK: Single items

    mutating func reindexItems(_ identifiers: [String]) throws(BindingFailure) {
        var donations = RowDonations(session)
        var gone: [String] = []
        for text in identifiers {
            guard let (file, _) = place(of: text) else {
                gone.append(text)
                continue
            }
            if !DatabaseFiles.isThere(file.path), !DatabaseFiles.isFolderThere(of: file) {
                throw BindingFailure(
                    .unavailable, "the folder of \(file.path) is not there; its items stay as they were")
            }
            if let (item, row, identifier) = try row(of: text) {
                donations.put(item.binding.record(row, identifier: text, domain: identifier.domain))
            } else {
                gone.append(text)
            }
        }
        if !gone.isEmpty { donations.delete(gone) }
        try donations.finish()
    }

    /// Returns the file and the components of an identifier; `nil` if it belongs to no file in the
    /// manifest.
    private func place(of text: String) -> (DatabaseFile, RowIdentifier)? {
        guard let identifier = RowIdentifier(text, hasTags: files.hasTags) else { return nil }
        let found = files.find().files
        guard let file = found.first(where: { $0.tag == identifier.file }) else { return nil }
        return (file, identifier)
    }

    /// Returns the current row of an item; `nil` if it no longer exists.
    private mutating func row(of text: String) throws(BindingFailure) -> (FittedItem, Row, RowIdentifier)? {
        guard let (file, identifier) = place(of: text) else { return nil }
        let reader = try reader(file)
        let fitted = try SchemaCheck.fit(binding, reader)
        guard let item = fitted.first(where: { $0.binding.name == identifier.item }) else { return nil }
        for key in RowKey.candidates(identifier.key) {
            if let row = try item.row(reader, key) { return (item, row, identifier) }
        }
        return nil
    }

    private mutating func present(_ text: String) throws(BindingFailure) -> (FittedItem, Row, RowIdentifier) {
        guard let found = try row(of: text) else {
            throw BindingFailure(.notFound, "the database no longer has a row for \(text)")
        }
        return found
    }

    /// Returns the promise for a type, with its position.
    private func promise(
        _ item: FittedItem, _ row: Row, _ type: String
    ) throws(BindingFailure) -> (Int, PromiseBinding) {
        let found = item.binding.promises.enumerated().first { _, promise in
            promise.type.text(row, .none)?.lowercased() == type.lowercased()
        }
        guard let found else { throw BindingFailure(.unsupported, "") }
        return found
    }

    mutating func data(of text: String, _ type: String) throws(BindingFailure) -> [UInt8] {
        let (item, row, identifier) = try present(text)
        let (index, promise) = try promise(item, row, type)
        return try bytes(
            promise.source, row, PromiseBinding.escaping(of: type), item.select(ofPromise: index), identifier)
    }

    mutating func file(of text: String, _ type: String) throws(BindingFailure) -> FileReply {
        let (item, row, identifier) = try present(text)
        let (index, promise) = try promise(item, row, type)
        if case .file(let template) = promise.source {
            let path = try path(template, row)
            do throws(FileRefusal) { return try FileReply(opening: path) } catch {
                throw BindingFailure(error.status, error.message)
            }
        }
        let bytes = try bytes(
            promise.source, row, PromiseBinding.escaping(of: type), item.select(ofPromise: index), identifier)
        return FileReply(descriptor: try NamelessFile.make(bytes), name: "")
    }

    mutating func preview(of text: String) throws(BindingFailure) -> PreparedPreview {
        let (item, row, identifier) = try present(text)
        guard let preview = item.binding.preview else { throw BindingFailure(.unsupported, "") }
        let bytes = try bytes(
            preview.source, row, PromiseBinding.escaping(of: preview.type), item.selectOfPreview, identifier)
        return PreparedPreview(
            contentType: preview.type, title: preview.title?.text(row, .none, limit: 4096), content: bytes)
    }

    private static func tooLarge(_ identifier: RowIdentifier) -> BindingFailure {
        BindingFailure(
            .tooLarge,
            "the representation of \(identifier.text) has more than \(DatabaseLimits.valueBytes >> 20) MiB")
    }

    private func path(_ template: DatabaseTemplate, _ row: Row) throws(BindingFailure) -> String {
        guard let path = template.text(row, .none), path.hasPrefix("/") else {
            throw BindingFailure(.unsupported, "the row does not have the absolute path of a file")
        }
        return path
    }

    /// Returns the bytes of a promise or a preview.
    private mutating func bytes(
        _ source: PromiseBinding.Source, _ row: Row, _ escaping: DatabaseTemplate.Escaping, _ select: String?,
        _ identifier: RowIdentifier
    ) throws(BindingFailure) -> [UInt8] {
        switch source {
        case .template(let template):
            // A representation is either complete or not provided. Values are truncated beyond the
            // limit of text(_:_:limit:).
            let limit = DatabaseLimits.valueBytes
            guard let text = template.text(row, escaping, limit: 2 * limit) else {
                throw BindingFailure(.unsupported, "the row of \(identifier.text) has no value for the representation")
            }
            guard !row.isCut(template.columns), text.utf8.count <= limit else { throw Self.tooLarge(identifier) }
            return Array(text.utf8)
        case .file(let template):
            let path = try path(template, row)
            let reply: FileReply
            do throws(FileRefusal) { reply = try FileReply(opening: path) } catch {
                throw BindingFailure(error.status, error.message)
            }
            return Array(try CallFrame().contents(of: reply.descriptor, path))
        case .select:
            guard let select, let (file, _) = place(of: identifier.text) else {
                throw BindingFailure(.notFound, "the database was removed")
            }
            let reader = try reader(file)
            for key in RowKey.candidates(identifier.key) {
                let cursor: RowCursor
                do throws(SelectProblem) {
                    cursor = try reader.select(select, parameters: [":key": key.value])
                } catch { throw error.failure(of: file.path) }
                let first = try cursor.next()
                guard first?.isFirstCut != true else { throw Self.tooLarge(identifier) }
                switch first?.values.first {
                case .blob(let bytes)?: return bytes
                case let value?: if let text = value.text { return Array(text.utf8) }
                case nil: continue
                }
            }
            throw BindingFailure(.unsupported, "the SELECT of the representation returns nothing")
        }
    }
}

extension String {
    fileprivate func cutTo(_ bytes: Int) -> String {
        utf8.count <= bytes ? self : String(decoding: utf8.prefix(bytes), as: UTF8.self)
    }
}
