// SPDX-License-Identifier: Apache-2.0
import DesktopApp
import Foundation

/// The program. Without a command it stays open and continues activities.
@main
struct PicturesProgram {
    static func main() async { exit(await PictureApp().main()) }
}
