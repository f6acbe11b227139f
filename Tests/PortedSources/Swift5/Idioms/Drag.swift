// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func provider(of text: String) -> NSItemProvider {
    let provider = NSItemProvider(object: text as NSString)
    provider.suggestedName = "Note"
    provider.registerDataRepresentation(forTypeIdentifier: UTType.html.identifier, visibility: .all) { completion in
        completion(Data("<p>\(text)".utf8), nil)
        return nil
    }
    provider.registerFileRepresentation(
        forTypeIdentifier: UTType.plainText.identifier, fileOptions: [], visibility: .all
    ) { completion in
        completion(URL(fileURLWithPath: "/tmp/note.txt"), false, nil)
        return nil
    }
    return provider
}
