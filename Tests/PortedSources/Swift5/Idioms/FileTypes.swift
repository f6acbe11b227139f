// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniformTypeIdentifiers

func pictures(in folder: URL) throws -> [URL] {
    let keys: Set<URLResourceKey> = [.contentTypeKey, .isRegularFileKey]
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: Array(keys))
    return files.filter { file in
        guard let type = try? file.resourceValues(forKeys: [.contentTypeKey]).contentType else { return false }
        return type.conforms(to: .image)
    }
}
