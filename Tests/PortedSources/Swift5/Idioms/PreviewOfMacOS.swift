// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuickLookUI

class DesktopPreviewProvider: QLPreviewProvider, QLPreviewingController {
    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        QLPreviewReply(dataOfContentType: .html, contentSize: CGSize(width: 600, height: 400)) { _ in
            Data("<p>\(request.fileURL.lastPathComponent)</p>".utf8)
        }
    }
}
