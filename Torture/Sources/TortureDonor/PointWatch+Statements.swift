// SPDX-License-Identifier: Apache-2.0
import GRDB
import TortureSupport

extension PointWatch {
    /// The prefixes of SQL statements that are followed by a point.
    private static let pointsAfter: [(String, CommitPoint)] = [
        ("INSERT INTO item (", .afterItemInsert), ("UPDATE item SET", .afterItemUpdate),
        ("DELETE FROM item WHERE", .afterItemDeletion), ("INSERT OR IGNORE INTO attribute ", .afterAttributeInsert),
        ("INSERT INTO item_text (rowid", .afterTextInsert),
        ("INSERT OR REPLACE INTO client_state", .afterClientState), ("UPDATE store SET applied", .afterAppliedNumber),
        ("COMMIT", .afterCommit), ("CREATE TABLE", .afterTable), ("INSERT INTO \"grdb_migrations\"", .afterMigration),
        ("INSERT INTO grdb_migrations", .afterMigration),
    ]

    /// Traces the statements of a connection.
    func watch(_ db: Database) {
        db.trace(options: [.statement, .profile]) { [self] event in
            switch event {
            case .statement(let statement):
                let text = statement.sql
                if text.hasPrefix("BEGIN IMMEDIATE") { pass(.beforeTransaction) }
                if text.hasPrefix("COMMIT") { pass(.beforeCommit) }
            case .profile(let statement, _):
                let text = statement.sql
                for (beginning, point) in Self.pointsAfter where text.hasPrefix(beginning) { pass(point) }
            }
        }
    }
}
