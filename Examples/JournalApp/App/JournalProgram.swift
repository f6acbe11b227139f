// SPDX-License-Identifier: Apache-2.0
import DesktopApp
import Foundation

/// The program. Without a command it stays open, and answers for its items while it is open.
@main
struct JournalProgram {
    static func main() async { exit(await JournalApp().main()) }
}
