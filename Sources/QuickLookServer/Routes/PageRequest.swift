// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The parts of a browser's request that the server uses.
package struct PageRequest: Sendable {
    /// The method, such as `GET`.
    package var method: String
    /// The components of the path as sent, without percent-decoding.
    package var path: [String]
    /// The decoded arguments of the query. If a name occurs more than once, the first value is
    /// used.
    package var arguments: [String: String]
    /// The decoded fields of a submitted form. If a name occurs more than once, the first value is
    /// used.
    package var form: [String: String]
    /// All header values, by lowercase name.
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

    /// Returns the value of a header that occurs exactly once; otherwise `nil`.
    func header(_ name: String) -> String? {
        guard let values = headers[name], values.count == 1 else { return nil }
        return values[0]
    }
}

/// A reply to a browser.
package struct PageReply: Sendable {
    /// The body of a reply.
    package enum Body: Sendable {
        case bytes([UInt8])
        /// A descriptor that is read while the reply is sent, and the exact number of bytes.
        case stream(OwnedDescriptor, length: UInt64)
    }

    /// The HTTP status, such as 200 or 404.
    package var status: Int
    /// The headers, by name. ``standardHeaders`` are part of every reply.
    package var headers: [String: String]
    /// The body.
    package var body: Body

    /// Creates a reply.
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

    /// With these headers, the browser stores nothing, does not guess types, sends no referrer and
    /// shares nothing with other origins.
    private static let standardHeaders = [
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    ]
}

/// The permissions of a reply's content in a browser (its `Content-Security-Policy`).
package enum PagePolicy: String, Sendable {
    /// The page itself: its own files, and frames for previews.
    case page = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
    /// The page that asks for the code.
    case invitation = """
        default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """
    /// A preview in its frame: its own styles and embedded images. A clicked link opens in a new
    /// window outside the sandbox, because the page's `frame-src` blocks it in the frame.
    case preview = """
        sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'self'
        """
    /// A document for the browser's own viewer in a new window. A sandbox would prevent the viewer
    /// from loading.
    case document = """
        default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
    /// Data, images and downloads, which are not pages.
    case data = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
