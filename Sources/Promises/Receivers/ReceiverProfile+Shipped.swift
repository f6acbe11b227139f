// SPDX-License-Identifier: Apache-2.0
import Foundation

extension ReceiverProfile {
    /// The built-in profiles: the types that each kind of app registers for on current desktops.
    public static let shipped: [ReceiverProfile] = shippedFiles.compactMap { name, text in
        try? ReceiverProfile(Data(text), name: name, path: nil)
    }

    /// The built-in profiles as JSON files, with name and text.
    static let shippedFiles: [(name: String, text: [UInt8])] = [
        ("browser", PackageResources.browser_json),
        ("file-manager", PackageResources.file_manager_json),
        ("image-editor", PackageResources.image_editor_json),
        ("mail-composer", PackageResources.mail_composer_json),
        ("plain-text-editor", PackageResources.plain_text_editor_json),
        ("rich-text-editor", PackageResources.rich_text_editor_json),
        ("terminal", PackageResources.terminal_json),
    ]
}
