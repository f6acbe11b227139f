// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Decides who may ask: the browser that brought the code first, and no page but this one.
///
/// Three secrets: the code, which is worth nothing after its first use or when its life is over; the cookie given for it; and
/// the folder of the session. The cookie belongs to that folder, since browsers send cookies to all ports of a host: another
/// server of this machine would learn it from a browser that visits both. The code arrives in the body of a form, so that it is
/// in no address, and thus in no history, log or `Referer`.
package final class PageAccess: Sendable {
    /// What a request may have.
    package enum Decision: Hashable, Sendable {
        /// It asked for the page without the code; answer with a form for it.
        case invited
        /// It brought the code; answer with ``PageAccess/cookie`` and the way to the page.
        case welcome
        /// It may have what it asks for: the path within the session's folder.
        case granted(path: [String])
        /// It may not, for a reason that a user can read.
        case refused(status: Int, reason: String)
    }

    /// How long a code is taken.
    package static let standardLife = Duration.seconds(120)

    /// The port that is listened on, by which a request names this server.
    private let port: UInt16
    private let expected: Mutex<String?>
    private let end: ContinuousClock.Instant
    private let now: @Sendable () -> ContinuousClock.Instant
    private let key: String
    /// The folder of the session, which every path but the first begins with.
    package let session: String
    package let code: String

    /// Creates the rules of a session.
    ///
    /// - Parameters:
    ///   - port: The port that is listened on.
    ///   - life: How long the code is taken.
    ///   - now: The clock for that.
    ///   - random: Where secrets come from.
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

    /// 160 bits as letters and digits.
    private static func secret(_ random: inout some RandomNumberGenerator) -> String {
        let digits = Array("abcdefghijklmnopqrstuvwxyz234567")
        return String((0..<32).map { _ in digits[Int(random.next(upperBound: UInt(digits.count)))] })
    }

    private var authority: String { "127.0.0.1:\(port)" }
    /// The address of the page that asks for the code. No secret.
    package var address: String { "http://\(authority)/" }
    /// The value of `Set-Cookie`.
    package var cookie: String { "\(Self.cookieName)=\(key); Path=/\(session)/; HttpOnly; SameSite=Strict" }
    /// Whether the code was used.
    package var isUsed: Bool { expected.withLock { $0 == nil } }

    private static let cookieName = "searchlight"

    /// Decides about a request. Uses up the code if the request brings it.
    package func decide(_ request: PageRequest) -> Decision {
        // A page of another site whose name was made to lead here (DNS rebinding) names that site.
        guard request.header("host") == authority else {
            return .refused(status: 403, reason: "This address is only served as \(authority).")
        }
        if request.path.isEmpty, request.method == "POST" { return exchange(request) }
        guard request.method == "GET" else { return .refused(status: 405, reason: "Only GET is answered.") }
        if request.headers["origin"] != nil, request.header("origin") != "http://\(authority)" {
            return .refused(status: 403, reason: "Another page asked for this.")
        }
        if request.path.isEmpty { return isOpen ? .invited : .refused(status: 403, reason: Self.advice) }
        // Browsers say where a request comes from; “none” is a user who opens an address.
        if let site = request.headers["sec-fetch-site"], site != ["same-origin"], site != ["none"] {
            return .refused(status: 403, reason: "Another page asked for this.")
        }
        guard Self.isEqual(request.path[0], session), brings(request.headers["cookie"] ?? []) else {
            return .refused(status: 403, reason: Self.advice)
        }
        return .granted(path: Array(request.path.dropFirst()))
    }

    /// Whether the code is still taken.
    private var isOpen: Bool { now() < end && !isUsed }

    private func exchange(_ request: PageRequest) -> Decision {
        // A file has no origin (“null”), nor has a page without referrers, such as the form; a web site has its own.
        let origin = request.header("origin")
        guard request.headers["origin"] == nil || origin == "null" || origin == "http://\(authority)" else {
            return .refused(status: 403, reason: "Another page asked for this.")
        }
        // As a user may have copied it.
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
        Quick Look can be opened once, in one browser, and only for a short time after it was started. Run \
        “searchlight quicklook” again.
        """

    private func brings(_ cookies: [String]) -> Bool {
        cookies.flatMap { $0.split(separator: ";") }.contains { cookie in
            let parts = cookie.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[0].trimmingPrefix(while: { $0 == " " }) == Self.cookieName
                && Self.isEqual(String(parts[1]), key)
        }
    }

    /// Whether two texts are the same, in a time that does not tell where they differ.
    private static func isEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | $1.0 ^ $1.1 } == 0
    }
}
