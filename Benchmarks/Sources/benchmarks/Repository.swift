// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The sources this program was built from.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path
}
