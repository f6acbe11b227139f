// SPDX-License-Identifier: Apache-2.0
import MobileCoreServices
import QuickLook

class TextPreviewProvider: QLPreviewProvider, QLPreviewingController {
    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        QLPreviewReply(dataOfContentType: .plainText, contentSize: CGSize(width: 800, height: 800)) { reply in
            reply.stringEncoding = .utf8
            reply.title = kUTTypePlainText as String
            return try Data(contentsOf: request.fileURL)
        }
    }
}
