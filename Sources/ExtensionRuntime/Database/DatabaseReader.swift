// SPDX-License-Identifier: Apache-2.0
import CSQLite
import DatabaseBindings
import Glibc
import ServiceMessages

/// An open copy of a database. Used by one thread at a time.
final class DatabaseReader {
    /// The path of the app's database.
    let path: String
    let stamp: DatabaseStamp
    /// The maximum number of rows returned by a SELECT.
    fileprivate let maximumRows: Int
    private let connection: OpaquePointer
    private let watch: ReadingWatch

    /// Copies a database and opens the copy.
    ///
    /// - Throws: ``BindingFailure``.
    init(
        _ path: String, watch: ReadingWatch, maximumRows: Int = DatabaseReader.maximumRows
    ) throws(BindingFailure) {
        if let reason = csqlite_load() {
            throw BindingFailure(
                .unavailable,
                "SQLite is needed to read \(path): \(String(cString: reason)). Install it (Debian: libsqlite3-0)")
        }
        let snapshot = try DatabaseSnapshot(of: DatabaseSnapshot.location(of: path)) { watch.goesOn }
        // From here on SQLite has the file open, so its name can be removed.
        defer { unlink(snapshot.path) }
        let opened = csqlite_open(
            snapshot.path, Int32(DatabaseReader.rowBytes),
            { context in
                context.map { Unmanaged<ReadingWatch>.fromOpaque($0).takeUnretainedValue().goesOn ? 1 : 0 } ?? 0
            }, Unmanaged.passUnretained(watch).toOpaque())
        guard let opened else { throw BindingFailure(.failed, "the copy of \(path) could not be opened") }
        (self.path, self.stamp, self.watch, self.maximumRows) = (path, snapshot.stamp, watch, maximumRows)
        connection = opened
    }

    deinit { csqlite_close(connection) }

    /// The maximum size of a row that is read, in bytes.
    static let rowBytes = 64 << 20
    /// The maximum number of rows returned by a SELECT. A join without a condition returns more.
    static let maximumRows = 5_000_000

    /// Returns `true` if a column is in the declared primary key of a table.
    func isKey(_ column: String, of table: String) -> Bool { csqlite_is_key(connection, table, column) != 0 }

    /// Prepares a statement.
    ///
    /// - Throws: ``SelectProblem`` with SQLite's reason.
    func select(_ text: String, parameters: [String: RowValue] = [:]) throws(SelectProblem) -> RowCursor {
        let bytes = Array(text.utf8)
        let statement = bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { csqlite_prepare(connection, $0.baseAddress, Int32($0.count)) }
        }
        guard let statement else { throw problem() }
        let cursor = RowCursor(statement, of: self)
        cursor.bind([":file": .text(path), ":folder": .text(folder), ":home": .text(Self.home)])
        cursor.bind(parameters)
        return cursor
    }

    private var folder: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/" }
    private static var home: String { getenv("HOME").map { String(cString: $0) } ?? "" }

    fileprivate func problem() -> SelectProblem {
        SelectProblem(code: csqlite_code(connection), message: String(cString: csqlite_problem(connection)))
    }

    /// Starts the time limit for a statement until its next row.
    fileprivate func begin() { watch.begin() }
    fileprivate var stop: ReadingWatch.Stop { watch.stop }
}

/// SQLite's reason why a statement is invalid or cannot continue.
struct SelectProblem: Error {
    let code: Int32
    let message: String

    /// Returns the failure of a request, with the file's name.
    func failure(of path: String, stop: ReadingWatch.Stop = .time) -> BindingFailure {
        switch code {
        case 9:
            switch stop {
            case .cancelled: BindingFailure(.cancelled, "the request was cancelled")
            case .time:
                BindingFailure(.failed, "a SELECT over \(path) takes more than \(ReadingWatch.seconds) s for a row")
            case .room:
                BindingFailure(
                    .tooLarge, "a SELECT over \(path) sorts more rows than fit on the disk")
            }
        case 11, 26: BindingFailure(.unsupported, "\(path) is damaged: \(message)")
        case 7, 18: BindingFailure(.tooLarge, "a SELECT over \(path) needs more memory than it may use: \(message)")
        default: BindingFailure(.failed, "a SELECT over \(path) failed: \(message)")
        }
    }
}

/// Determines whether reading a database continues. Reading stops if the request is cancelled, if a
/// statement takes too long for a row, or if the disk with the temporary files is nearly full.
final class ReadingWatch {
    /// The reason why reading stopped.
    enum Stop { case cancelled, time, room }

    /// The time limit for a statement until its next row, in seconds.
    static let seconds = 60
    /// The number of calls between two checks of the disk.
    private static let callsPerCheck = 64
    private let now: () -> Duration
    private let hasRoom: () -> Bool
    /// `true` if the time limit applies to each row, `false` if it applies to the whole request.
    private let isPerRow: Bool
    private var request: (cancelled: () -> Bool, progress: () -> Void) = ({ false }, {})
    private var began = Duration.zero
    private var calls = 0
    private var isFull = false

    /// - Parameters:
    ///   - isPerRow: `false` to apply the time limit to all rows together.
    ///   - hasRoom: Returns `false` if the disk with the temporary files is nearly full.
    init(
        now: @escaping () -> Duration, isPerRow: Bool = true,
        hasRoom: @escaping () -> Bool = { DatabaseSnapshot.hasRoom }
    ) {
        (self.now, self.isPerRow, self.hasRoom) = (now, isPerRow, hasRoom)
        began = now()
    }

    /// Sets the request that is being handled.
    func serve(cancelled: @escaping () -> Bool, progress: @escaping () -> Void) {
        request = (cancelled, progress)
        (began, isFull) = (now(), false)
    }

    var isCancelled: Bool { request.cancelled() }
    /// Starts the time limit for a row.
    func begin() { if isPerRow { began = now() } }

    var stop: Stop { request.cancelled() ? .cancelled : isFull ? .room : .time }

    var goesOn: Bool {
        request.progress()
        calls &+= 1
        if calls % Self.callsPerCheck == 0, !hasRoom() { isFull = true }
        return !isFull && !request.cancelled() && now() - began < .seconds(Self.seconds)
    }
}

/// A statement's rows, one after another.
final class RowCursor {
    /// The names of the columns.
    let columns: [String]
    private let statement: OpaquePointer
    private let reader: DatabaseReader
    private let positions: [String: Int]
    private var count = 0

    fileprivate init(_ statement: OpaquePointer, of reader: DatabaseReader) {
        self.statement = statement
        self.reader = reader
        let columns = (0..<csqlite_column_count(statement)).map { String(cString: csqlite_column_name(statement, $0)) }
        self.columns = columns
        positions = Dictionary(columns.enumerated().map { ($1.lowercased(), $0) }) { first, _ in first }
    }

    deinit { csqlite_finish(statement) }

    fileprivate func bind(_ parameters: [String: RowValue]) {
        for (name, value) in parameters {
            switch value {
            case .integer(let number): csqlite_bind_integer(statement, name, number)
            case .text(let text):
                // One more byte, since an empty array may have no address, which would mean NULL.
                let bytes = Array(text.utf8) + [0]
                bytes.withUnsafeBufferPointer { buffer in
                    buffer.withMemoryRebound(to: CChar.self) {
                        csqlite_bind_text(statement, name, $0.baseAddress, Int32($0.count - 1))
                    }
                }
            case .null, .real, .blob: break
            }
        }
    }

    /// Returns the next row; `nil` at the end. A text that is too large is truncated, and a BLOB
    /// that is too large is returned as empty.
    ///
    /// - Throws: ``BindingFailure``.
    func next() throws(BindingFailure) -> Row? {
        reader.begin()
        switch csqlite_step(statement) {
        case 1: break
        case 0: return nil
        default: throw reader.problem().failure(of: reader.path, stop: reader.stop)
        }
        count += 1
        guard count <= reader.maximumRows else {
            throw BindingFailure(
                .tooLarge,
                "a SELECT over \(reader.path) returns more than \(reader.maximumRows) rows; add a WHERE, or the condition of a JOIN"
            )
        }
        var (values, left): ([RowValue], Int) = ([], DatabaseReader.rowBytes)
        var cut: Set<Int> = []
        for column in 0..<Int32(columns.count) {
            let value = csqlite_column(statement, column)
            switch value.type {
            case csqlite_integer: values.append(.integer(value.integer))
            case csqlite_real: values.append(.real(value.real))
            case csqlite_text, csqlite_blob:
                let count = min(Int(value.length), DatabaseLimits.valueBytes, left)
                left -= count
                if count < Int(value.length) { cut.insert(Int(column)) }
                let bytes = UnsafeBufferPointer(start: value.bytes, count: value.bytes == nil ? 0 : count)
                values.append(
                    value.type == csqlite_text
                        ? .text(String(decoding: bytes, as: UTF8.self))
                        : .blob(count < Int(value.length) ? [] : Array(bytes)))
            default: values.append(.null)
            }
        }
        return Row(positions: positions, values: values, cut: cut)
    }
}
