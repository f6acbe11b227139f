// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import CommandSupport
import Promises
import SearchlightEngine
import WindowModel
import WindowViews

/// The application: one process with one window. Later processes pass their arguments to it.
@MainActor
final class WindowApplication {
    /// The name on the session bus, which is also the name of the desktop entry.
    private static let identifier = "com.searchlight.Searchlight"

    private let arguments: WindowArguments
    private let link: StoreLink
    private var window: SearchWindow?
    private var status: Int32 = 0

    init(_ arguments: WindowArguments) {
        self.arguments = arguments
        let options = arguments.options
        link = StoreLink { use in try await options.withLastingStore { store in await use(store) } }
    }

    /// Runs the application until its window is closed.
    ///
    /// - Returns: The exit status of the process.
    func run() -> Int32 {
        guard gtk_init_check() != 0 else {
            Output.complain(
                """
                The window cannot be shown: there is no display. Start it in a graphical session, or use “searchlight search”.
                """)
            return ExitStatus.failure.rawValue
        }
        var flags = G_APPLICATION_HANDLES_COMMAND_LINE
        if arguments.needsOwnProcess { flags.rawValue |= G_APPLICATION_NON_UNIQUE.rawValue }
        guard let application = adw_application_new(Self.identifier, flags) else { return 70 }
        let callback: @convention(c) (OpaquePointer, OpaquePointer, UnsafeMutableRawPointer) -> Int32 = {
            application, line, data in
            nonisolated(unsafe) let (application, line, data) = (application, line, data)
            return MainActor.assumeIsolated {
                Unmanaged<WindowApplication>.fromOpaque(data).takeUnretainedValue().activate(
                    UnsafeMutablePointer(application), line)
            }
        }
        g_signal_connect_data(
            application, "command-line", unsafeBitCast(callback, to: GCallback.self),
            Unmanaged.passUnretained(self).toOpaque(), nil, GConnectFlags(rawValue: 0))
        var words = CommandLine.arguments.map { strdup($0) }
        defer { words.forEach { free($0) } }
        let result = words.withUnsafeMutableBufferPointer {
            g_application_run(
                UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self), Int32($0.count),
                $0.baseAddress)
        }
        link.end()
        Delivery.removeUnfinishedFiles()
        return status != 0 ? status : result
    }

    /// Shows the window for the arguments of this process or of a later one.
    private func activate(_ application: UnsafeMutablePointer<GtkApplication>, _ line: OpaquePointer) -> Int32 {
        var count: Int32 = 0
        guard
            let words = g_application_command_line_get_arguments(
                UnsafeMutableRawPointer(line).assumingMemoryBound(to: GApplicationCommandLine.self), &count)
        else { return 70 }
        defer { g_strfreev(words) }
        let given = (0..<Int(count)).compactMap { words[$0].map { String(cString: $0) } }
        // The other process has already checked its arguments.
        let arguments = try? WindowArguments.parse(Array(given.dropFirst()))
        let window = self.window ?? makeWindow(application)
        self.window = window
        window.present(text: arguments?.text)
        if let path = self.arguments.screenshot {
            window.savePicture(to: path) { [unowned self] isSaved in
                guard !isSaved else { return }
                Output.complain("The picture \(text: path) cannot be written. Check its folder.")
                status = ExitStatus.inputOutput.rawValue
            }
        }
        return 0
    }

    private func makeWindow(_ application: UnsafeMutablePointer<GtkApplication>) -> SearchWindow {
        let environment = arguments.options.environment
        let target = EventTarget()
        let client = WindowClient(
            store: { [link] in try await link.store() }, environment: environment,
            installed: { [options = arguments.options] in ExtensionListing(options.registry) },
            send: { target.send($0) })
        let folder = DropFolder(environment: environment)
        if let folder { Task.detached(priority: .background) { folder.removeOld() } }
        let window = SearchWindow(application, client) { [link] result, onProgress in
            let offer = DragOffer(result.item.record)
            guard let folder, !offer.mediaTypes.isEmpty else { return nil }
            let item = result.item
            return DraggedItem(
                item, title: result.plainTitle, offer: offer, provider: LinkedPromises(link: link), folder: folder,
                name: { item.fileName(as: $0) }, onProgress: onProgress)
        }
        target.window = window
        return window
    }
}

/// The window to which events from other threads are sent.
@MainActor
private final class EventTarget: Sendable {
    var window: SearchWindow?

    nonisolated init() {}

    nonisolated func send(_ event: WindowEvent) { MainLoop.post { self.window?.send(event) } }
}
