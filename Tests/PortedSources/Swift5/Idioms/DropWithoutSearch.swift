// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniformTypeIdentifiers

enum DropFailure: Error { case empty }

extension NSItemProvider {
    func bytes(of type: UTType) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            _ = loadDataRepresentation(for: type) { data, error in
                if let data {
                    continuation.resume(returning: data)
                } else {
                    continuation.resume(throwing: error ?? DropFailure.empty)
                }
            }
        }
    }
}

final class DroppedNote: NSObject, NSItemProviderReading {
    static var readableTypeIdentifiersForItemProvider: [String] { [UTType.plainText.identifier] }

    let text: String

    required init(text: String) { self.text = text }

    static func object(withItemProviderData data: Data, typeIdentifier: String) throws -> Self {
        self.init(text: String(decoding: data, as: UTF8.self))
    }
}
