// SPDX-License-Identifier: Apache-2.0
import Foundation

extension ReceiverProfile {
    /// The profiles that Searchlight brings: what apps of each kind register to accept on the desktops of today. In the form
    /// of the files that people write.
    public static let shipped: [ReceiverProfile] = shippedFiles.compactMap { name, text in
        try? ReceiverProfile(Data(text.utf8), name: name, path: nil)
    }

    /// The same as files: name and text.
    static let shippedFiles: [(name: String, text: String)] = [
        (
            "browser",
            """
            {
              "title": "Web browser",
              "accepts": ["public.url", "public.html", "public.svg-image", "public.image", "com.adobe.pdf",
                          "public.plain-text"],
              "takes": ["data", "file", "inPlace"]
            }
            """
        ),
        (
            "file-manager",
            """
            {
              "title": "File manager",
              "accepts": ["public.item", "public.url"],
              "takes": ["file", "inPlace", "data"],
              "order": "set"
            }
            """
        ),
        (
            "image-editor",
            """
            {
              "title": "Image editor",
              "accepts": ["public.image", "com.adobe.pdf"],
              "takes": ["inPlace", "file", "data"],
              "order": "set"
            }
            """
        ),
        (
            "mail-composer",
            """
            {
              "title": "Mail composer",
              "accepts": ["public.html", "public.rtf", "public.utf8-plain-text", "public.plain-text", "public.url",
                          "public.data"],
              "takes": ["data", "file", "inPlace"]
            }
            """
        ),
        (
            "plain-text-editor",
            """
            {
              "title": "Plain text editor",
              "accepts": ["public.utf8-plain-text", "public.plain-text"],
              "takes": ["data", "file", "inPlace"]
            }
            """
        ),
        (
            "rich-text-editor",
            """
            {
              "title": "Rich text editor",
              "accepts": ["com.apple.rtfd", "public.rtf", "public.html", "public.utf8-plain-text",
                          "public.plain-text", "public.image"],
              "takes": ["data", "file", "inPlace"]
            }
            """
        ),
        (
            "terminal",
            """
            {
              "title": "Terminal",
              "accepts": ["public.url", "public.utf8-plain-text", "public.plain-text"],
              "takes": ["data", "inPlace"]
            }
            """
        ),
    ]
}
