// SPDX-License-Identifier: Apache-2.0
import GRDB

extension Row {
    /// Returns the integer of a column.
    ///
    /// - Throws: `DatabaseError` if the value is not an integer, which means that the database is
    ///   damaged.
    func number(_ column: Int) throws -> Int64 {
        guard let number = Int64.fromDatabaseValue(self[column]) else { throw Self.damage }
        return number
    }

    func number(orNil column: Int) throws -> Int64? {
        hasNull(atIndex: column) ? nil : try number(column)
    }

    /// Returns the text of a column.
    func text(_ column: Int) throws -> String {
        guard let text = String.fromDatabaseValue(self[column]) else { throw Self.damage }
        return text
    }

    func text(orNil column: Int) throws -> String? { hasNull(atIndex: column) ? nil : try text(column) }
    func name(_ column: Int) throws -> EntryName { EntryName(try text(column)) }
    func isTrue(_ column: Int) throws -> Bool { try number(column) != 0 }

    private static var damage: DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a column has a value of a wrong type")
    }
}

extension FileState {
    /// The columns of a file state in the tables `file` and `difference`.
    static let columns = "file_system, inode, born, size, modified, changed"

    /// Reads the columns of a file state.
    init(_ row: Row, from first: Int) throws {
        self.init(
            fileSystem: try row.number(first), inode: UInt64(bitPattern: try row.number(first + 1)),
            born: try row.number(first + 2), size: try row.number(first + 3), modified: try row.number(first + 4),
            changed: try row.number(first + 5))
    }

    /// The values for the columns of a file state.
    var arguments: StatementArguments { [fileSystem, Int64(bitPattern: inode), born, size, modified, changed] }
}

extension FolderRow {
    static let columns = "id, name, inode, born, file_system, state, is_partial, digest"

    init(_ row: Row) throws {
        self.init(
            id: try row.number(0), name: try row.name(1), inode: UInt64(bitPattern: try row.number(2)),
            born: try row.number(3), mount: try row.text(orNil: 4),
            state: FolderState(rawValue: try row.number(5)) ?? .gone, isPartial: try row.isTrue(6),
            digest: try row.number(orNil: 7))
    }

    /// Returns the subfolder that has a name.
    static func child(_ name: EntryName, of parent: Int64, tree: Int64, _ db: Database) throws -> FolderRow? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(columns) FROM folder WHERE parent = ? AND name = ? AND tree = ?")
        return try Row.fetchOne(statement, arguments: [parent, name.text, tree]).map(FolderRow.init)
    }

    /// Returns all subfolders.
    static func children(of parent: Int64, _ db: Database) throws -> [EntryName: FolderRow] {
        var children: [EntryName: FolderRow] = [:]
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT \(columns) FROM folder WHERE parent = ?"), arguments: [parent])
        while let row = try rows.next() {
            let child = try FolderRow(row)
            children[child.name] = child
        }
        return children
    }
}
