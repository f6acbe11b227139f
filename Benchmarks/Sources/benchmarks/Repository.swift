// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The source repository of this program.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path
}
