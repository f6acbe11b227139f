// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The access control for the page. It admits only the first browser that sends the code, and only
/// requests that come from this page.
///
/// There are three secrets:
///
/// - The code. It becomes invalid after its first use or at the end of its lifetime. It arrives in
///   the body of a form, so it appears in no URL, and therefore in no history, log or `Referer`.
/// - The cookie that the browser receives in exchange for the code.
/// - The session folder, which is the cookie's path. Browsers send cookies to all ports of a host.
///   Without the path, another server on this machine would receive the cookie from a browser that
///   visits both.
package final class PageAccess: Sendable {
    /// The decision about a request.
    package enum Decision: Hashable, Sendable {
        /// The request is for the page but lacks the code. Reply with a form for the code.
        case invited
        /// The request contains the code. Reply with ``PageAccess/cookie`` and a redirect to the
        /// page.
        case welcome
        /// The request is allowed. `path` is relative to the session folder.
        case granted(path: [String])
        /// The request is rejected, for a reason that is shown to the user.
        case refused(status: Int, reason: String)
    }

    /// The lifetime of a code.
    package static let standardLife = Duration.seconds(120)

    /// The port of the server. A request must name it in `Host`.
    private let port: UInt16
    private let expected: Mutex<String?>
    private let end: ContinuousClock.Instant
    private let now: @Sendable () -> ContinuousClock.Instant
    private let key: String
    /// The session folder. All paths except `/` begin with it.
    package let session: String
    package let code: String

    /// Creates the access control of a session.
    ///
    /// - Parameters:
    ///   - port: The port of the server.
    ///   - life: The lifetime of the code.
    ///   - now: The clock for the lifetime.
    ///   - random: The generator for the secrets.
    package init(
        port: UInt16, life: Duration = standardLife,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, random: inout some RandomNumberGenerator
    ) {
        self.port = port
        self.now = now
        end = now() + life
        code = Self.secret(&random)
        key = Self.secret(&random)
        session = Self.secret(&random)
        expected = Mutex(code)
    }

    /// Returns 160 random bits as letters and digits.
    private static func secret(_ random: inout some RandomNumberGenerator) -> String {
        let digits = Array("abcdefghijklmnopqrstuvwxyz234567")
        return String((0..<32).map { _ in digits[Int(random.next(upperBound: UInt(digits.count)))] })
    }

    private var authority: String { "127.0.0.1:\(port)" }
    /// The URL of the page that asks for the code. It is not secret.
    package var address: String { "http://\(authority)/" }
    /// The value of the `Set-Cookie` header.
    package var cookie: String { "\(Self.cookieName)=\(key); Path=/\(session)/; HttpOnly; SameSite=Strict" }
    /// `true` if the code has been used.
    package var isUsed: Bool { expected.withLock { $0 == nil } }

    private static let cookieName = "searchlight"

    /// Grants or rejects a request. A request with the code invalidates the code.
    package func decide(_ request: PageRequest) -> Decision {
        // With DNS rebinding, a page from another site reaches this server under that site's name.
        guard request.header("host") == authority else {
            return .refused(status: 403, reason: "This address is only served as \(authority).")
        }
        if request.path.isEmpty, request.method == "POST" { return exchange(request) }
        // A link in a preview leads to a GET request, and browsers state the origin of each POST
        // request.
        let isAction = request.path.count > 2 && request.path[1...2] == ["api", "open"]
        guard request.method == (isAction ? "POST" : "GET") else {
            return .refused(status: 405, reason: "Only \(isAction ? "POST" : "GET") is supported.")
        }
        guard !isAction || request.headers["origin"] != nil else {
            return .refused(status: 403, reason: "The request comes from another page.")
        }
        if request.headers["origin"] != nil, request.header("origin") != "http://\(authority)" {
            return .refused(status: 403, reason: "The request comes from another page.")
        }
        if request.path.isEmpty { return isOpen ? .invited : .refused(status: 403, reason: Self.advice) }
        // Browsers state the initiator of a request; “none” means that the user opened a URL.
        if let site = request.headers["sec-fetch-site"], site != ["same-origin"], site != ["none"] {
            return .refused(status: 403, reason: "The request comes from another page.")
        }
        guard Self.isEqual(request.path[0], session), brings(request.headers["cookie"] ?? []) else {
            return .refused(status: 403, reason: Self.advice)
        }
        return .granted(path: Array(request.path.dropFirst()))
    }

    /// `true` while the code is valid.
    private var isOpen: Bool { now() < end && !isUsed }

    private func exchange(_ request: PageRequest) -> Decision {
        // The origin of a file, or of a page without referrers such as the form, is “null”. A web
        // site has its own origin.
        let origin = request.header("origin")
        guard request.headers["origin"] == nil || origin == "null" || origin == "http://\(authority)" else {
            return .refused(status: 403, reason: "The request comes from another page.")
        }
        // The user may have entered the code with spaces or capitals.
        let given = (request.form["code"] ?? "").lowercased().filter { !$0.isWhitespace }
        let isInTime = now() < end
        let isRight = expected.withLock { expected in
            guard let code = expected, Self.isEqual(given, code), isInTime else { return false }
            expected = nil
            return true
        }
        if isRight { return .welcome }
        return .refused(status: 403, reason: isOpen ? "This is not the code. Go back and try again." : Self.advice)
    }

    private static let advice = """
        Quick Look can be opened once, in one browser, and only shortly after its start. Run \
        “searchlight quicklook” again.
        """

    private func brings(_ cookies: [String]) -> Bool {
        cookies.flatMap { $0.split(separator: ";") }.contains { cookie in
            let parts = cookie.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[0].trimmingPrefix(while: { $0 == " " }) == Self.cookieName
                && Self.isEqual(String(parts[1]), key)
        }
    }

    /// Compares two texts. Takes constant time for texts of equal length.
    private static func isEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | $1.0 ^ $1.1 } == 0
    }
}
