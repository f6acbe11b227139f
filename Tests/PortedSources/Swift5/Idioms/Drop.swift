// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func texts(_ providers: [NSItemProvider], _ receive: @escaping @Sendable (String) -> Void) {
    for provider in providers {
        if provider.canLoadObject(ofClass: String.self) {
            _ = provider.loadObject(ofClass: String.self) { text, _ in
                if let text = text { receive(text) }
            }
        } else if provider.hasItemConformingToTypeIdentifier(UTType.data.identifier) {
            provider.loadDataRepresentation(forTypeIdentifier: UTType.data.identifier) { data, error in
                if let data = data { receive("\(data.count)") }
            }
        }
    }
}
