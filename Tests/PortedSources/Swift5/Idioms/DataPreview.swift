// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

class DataPreviewProvider: QLPreviewProvider, QLPreviewingController {
    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        let size = CGSize(width: 800, height: 800)
        return QLPreviewReply(dataOfContentType: .plainText, contentSize: size) { (reply: QLPreviewReply) in
            reply.stringEncoding = .utf8
            return Data(request.fileURL.lastPathComponent.utf8)
        }
    }
}
