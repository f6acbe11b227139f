// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import Foundation
import Glibc
import ItemRecord
import Promises
import ServiceMessages
import WindowModel
import WindowViews

/// A window whose whole area is a drag source, for tests with a synthetic mouse. Each drag offers
/// the promise named in the last line of standard input. Standard output gets a line for each
/// promise request and for the end of each drag.
@main
@MainActor
enum DragSourceProgram {
    private nonisolated static let samples = SampleChoice()

    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let folder = DropFolder(path: CommandLine.arguments[1])
        gtk_init()
        let window = Widget(gtk_window_new())
        gtk_window_set_title(window.cast(), "Drag source")
        gtk_window_set_decorated(window.cast(), 0)
        gtk_window_set_default_size(window.cast(), 200, 200)
        let label = Widget(gtk_label_new("Drag"))
        gtk_widget_set_hexpand(label.pointer, 1)
        gtk_widget_set_vexpand(label.pointer, 1)
        gtk_window_set_child(window.cast(), label.pointer)
        DragOrigin.add(to: label) { _, _ in
            let sample = samples.current
            let content = DraggedItem(
                sample, title: sample.name, offer: DragOffer(sample.record), provider: SamplePromises(), folder: folder,
                name: { _ in FileName(title: "Promised \(sample.name)", fileExtension: sample.fileExtension) })
            return .init(content, icon: label) { event in
                switch event {
                case .preparing: say("preparing")
                case .failed(let failure): say("failed \(failure.kind.rawValue) \(failure.message)")
                case .dropped: say("dropped")
                case .ended: say("ended")
                }
            }
        }
        window.on("destroy") { exit(0) }
        gtk_window_present(window.cast())
        say("ready")
        Thread.detachNewThread {
            while let line = readLine() { samples.choose(line) }
            exit(0)
        }
        while true { g_main_context_iteration(nil, 1) }
    }
}
