// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// A headless Chromium, driven over a pipe (`--remote-debugging-pipe`): messages as JSON, each
/// terminated by a zero byte. Blocks the calling thread.
final class Browser {
    /// The path of Chromium, if it is installed.
    static let program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let process: ChildProcess
    private let (input, output) = (Pipe(), Pipe())
    private let folder: TemporaryFolder
    private var received = Data()
    private var serial = 0
    private var session: String?

    /// Starts a browser with a blank page.
    init() throws {
        folder = try TemporaryFolder()
        // The browser reads from descriptor 3 and writes to descriptor 4. Its sandbox is not
        // available to root.
        let line = """
            exec 3<&0 4>&1 </dev/null >/dev/null; exec "$0" --headless=new --no-sandbox --disable-gpu --no-first-run \
            --disable-dev-shm-usage --disable-background-networking --hide-scrollbars --remote-debugging-pipe \
            --user-data-dir="$1" about:blank
            """
        process = try ChildProcess(
            "/bin/sh", ["-c", line, try #require(Self.program), folder.path], input: .pipe(input),
            output: .pipe(output),
            errors: .nothing)
        let targets = try call("Target.getTargets")["targetInfos"] as? [[String: Any]] ?? []
        let page = try #require(targets.first { $0["type"] as? String == "page" }?["targetId"] as? String)
        session = try call("Target.attachToTarget", ["targetId": page, "flatten": true])["sessionId"] as? String
        _ = try call("Page.enable")
    }

    deinit {
        process.send(SIGKILL)
        process.wait()
    }

    /// Sends a protocol command and waits for the answer. Skips events in between.
    @discardableResult
    func call(_ method: String, _ parameters: [String: Any] = [:], mayFail: Bool = false) throws -> [String: Any] {
        serial += 1
        var message: [String: Any] = ["id": serial, "method": method, "params": parameters]
        message["sessionId"] = session
        try input.fileHandleForWriting.write(
            contentsOf: try JSONSerialization.data(withJSONObject: message) + Data([0]))
        while true {
            let answer = try next()
            guard answer["id"] as? Int == serial else { continue }
            if let error = answer["error"], !mayFail { Issue.record("\(method): \(error)") }
            return answer["result"] as? [String: Any] ?? [:]
        }
    }

    private func next() throws -> [String: Any] {
        while true {
            if let end = received.firstIndex(of: 0) {
                let message = received[received.startIndex..<end]
                received = Data(received[received.index(after: end)...])
                return try JSONSerialization.jsonObject(with: message) as? [String: Any] ?? [:]
            }
            let more = output.fileHandleForReading.availableData
            try #require(!more.isEmpty, "the browser has ended")
            received += more
        }
    }

    /// Returns the result of a script in the page; if the result is a promise, waits for it.
    ///
    /// - Parameter mayLeave: `true` if the browser may navigate away during the script; the result
    ///   is then `nil`.
    func evaluate(_ script: String, mayLeave: Bool = false) throws -> Any? {
        let answer = try call(
            "Runtime.evaluate", ["expression": script, "awaitPromise": true, "returnByValue": true], mayFail: mayLeave)
        if let problem = answer["exceptionDetails"] { Issue.record("\(script): \(problem)") }
        return (answer["result"] as? [String: Any])?["value"]
    }

    /// Waits until a script returns true. Runs it each time the page is drawn.
    func wait(for condition: String) throws {
        _ = try evaluate(
            """
            new Promise((resolve) => {
              const look = () => { let met = false; try { met = \(condition); } catch {} met ? resolve(true) : setTimeout(look, 20); };
              look();
            })
            """)
    }

    /// Opens an address and waits until its page is loaded.
    func open(_ address: String) throws {
        try call("Page.navigate", ["url": address])
        // While the first page redirects to the second, the first one still answers.
        let isThere = "document.getElementById('results') !== null && document.readyState === 'complete'"
        while try evaluate(isThere, mayLeave: true) as? Bool != true {}
    }

    /// Presses a key.
    func press(_ key: String, code: Int, text: String? = nil) throws {
        var event: [String: Any] = ["type": "keyDown", "key": key, "windowsVirtualKeyCode": code]
        event["text"] = text
        try call("Input.dispatchKeyEvent", event)
        try call("Input.dispatchKeyEvent", ["type": "keyUp", "key": key, "windowsVirtualKeyCode": code])
    }

    func resize(width: Int, height: Int) throws {
        try call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
    }

    func setScheme(_ scheme: String) throws {
        try call(
            "Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": scheme]]])
    }

    /// Returns the page as a PNG.
    func screenshot() throws -> Data {
        let text = try #require(try call("Page.captureScreenshot", ["format": "png"])["data"] as? String)
        return try #require(Data(base64Encoded: text))
    }
}
