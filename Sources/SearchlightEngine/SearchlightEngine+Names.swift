// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ExtensionHost

extension SearchlightEngine {
    /// Returns a bundle's user-visible name: the name of its extension, or else the name in the
    /// app's desktop entry, or else its identifier.
    package func displayName(of bundle: String) -> String {
        let manifest = registry.extensions.first { $0.identifier == bundle }?.manifest
        if let name = manifest?.displayName, name != bundle, !name.isEmpty { return name }
        let entry = manifest?.access.desktopEntry ?? bundle + ".desktop"
        let environment = configuration.worker.environment
        return DesktopEntries(environment: environment).read(entry)?
            .name(in: LaunchPlanner.language(environment)) ?? bundle
    }
}
