// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// A request of a browser, as far as the server reads it.
package struct PageRequest: Sendable {
    /// Such as `GET`.
    package var method: String
    /// The path as it was sent, between slashes.
    package var path: [String]
    /// The arguments behind the path, decoded; of several with one name the first.
    package var arguments: [String: String]
    /// The fields of a form that was sent, decoded; of several with one name the first.
    package var form: [String: String]
    /// The headers by their names in lower case; of several with one name all.
    package var headers: [String: [String]]

    package init(
        method: String = "GET", path: [String], arguments: [String: String] = [:], form: [String: String] = [:],
        headers: [String: [String]] = [:]
    ) {
        self.method = method
        self.path = path
        self.arguments = arguments
        self.form = form
        self.headers = headers
    }

    /// The value of a header that occurs once.
    func header(_ name: String) -> String? {
        guard let values = headers[name], values.count == 1 else { return nil }
        return values[0]
    }
}

/// An answer to a browser.
package struct PageReply: Sendable {
    /// The bytes of an answer.
    package enum Body: Sendable {
        case bytes([UInt8])
        /// A descriptor to read from while the answer is sent, and the exact number of bytes.
        case stream(OwnedDescriptor, length: UInt64)
    }

    /// The status of the protocol: 200, 404.
    package var status: Int
    /// The headers by their usual names; ``standardHeaders`` come with every answer.
    package var headers: [String: String]
    /// The bytes behind the headers.
    package var body: Body

    /// Creates an answer.
    package init(status: Int = 200, type: String, policy: PagePolicy, body: Body) {
        self.status = status
        self.body = body
        headers = Self.standardHeaders
        headers["Content-Type"] = type
        headers["Content-Security-Policy"] = policy.rawValue
        if policy != .preview { headers["X-Frame-Options"] = "DENY" }
    }

    init(status: Int = 200, type: String, policy: PagePolicy, text: String) {
        self.init(status: status, type: type, policy: policy, body: .bytes(Array(text.utf8)))
    }

    /// The browser stores nothing, guesses no type, sends no referrer and shares nothing with other origins.
    private static let standardHeaders = [
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    ]
}

/// The rights of the content of an answer in a browser (its `Content-Security-Policy`).
package enum PagePolicy: String, Sendable {
    /// The simulator's own page: its own files, and frames with previews.
    case page = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
    /// The page that asks for the code.
    case invitation = """
        default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """
    /// A preview in its frame: its own styles and the pictures it holds. A link that a person clicks opens in a window of its
    /// own, outside of the sandbox, since in the frame `frame-src` of the page keeps it from leading anywhere.
    case preview = """
        sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'self'
        """
    /// A document that the browser's own viewer shows in a window of its own; a sandbox would keep that from loading.
    case document = """
        default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
    /// Data, pictures and downloads, which are no pages.
    case data = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
