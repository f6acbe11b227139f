// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The program: the window of the gallery.
@main
struct PicturesWindow {
    @MainActor
    static func main() { exit(WindowedApp.shared.run()) }
}
