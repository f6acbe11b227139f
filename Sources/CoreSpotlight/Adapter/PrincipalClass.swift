// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SearchlightExtension

/// Finds the class named in the manifest and creates its object.
enum PrincipalClass {
    private static let maximumNameBytes = 1024

    static func make(
        _ name: String?, in bundlePath: String
    ) throws(HostFailure) -> any NSObjectProtocol & NSExtensionRequestHandling {
        guard let name, !name.isEmpty else {
            throw HostFailure(
                SEARCHLIGHT_INVALID_ARGUMENT,
                "The manifest of \(bundlePath) names no class. Set NSExtensionPrincipalClass to Module.Class, such as "
                    + "Journal.IndexRequestHandler.")
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { part in
            !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        }
        guard name.utf8.count <= maximumNameBytes, isPlain, parts.count == 2 else {
            throw HostFailure(
                SEARCHLIGHT_INVALID_ARGUMENT,
                "NSExtensionPrincipalClass of \(bundlePath) is \"\(name.prefix(80))\", which is not of the form "
                    + "Module.Class. Nested classes cannot be named.")
        }
        guard let found = NSClassFromString(name) else {
            throw HostFailure(
                SEARCHLIGHT_NOT_FOUND,
                "The class \(name) is not in the library of \(bundlePath). Check NSExtensionPrincipalClass: Module is "
                    + "the name of the Swift target, Class a class at its top level.")
        }
        switch found {
        case let type as CSIndexExtensionRequestHandler.Type: return type.make()
        case let type as QLPreviewProvider.Type:
            let provider = type.make()
            guard provider is any QLPreviewingController else {
                throw HostFailure(
                    SEARCHLIGHT_UNSUPPORTED,
                    "The class \(name) inherits from QLPreviewProvider and does not conform to QLPreviewingController. "
                        + "Add the conformance and implement providePreview(for:).")
            }
            return provider
        default:
            throw HostFailure(
                SEARCHLIGHT_UNSUPPORTED,
                "The class \(name) inherits neither from CSIndexExtensionRequestHandler nor from QLPreviewProvider. "
                    + "Make it inherit from one of them.")
        }
    }
}
