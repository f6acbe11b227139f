// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Who may ask: the browser that opened the address with the token first, and no page but this one.
///
/// Three secrets: the token in the printed address, which is worth nothing after the first visit; the cookie given for it; and
/// the folder of the session. The cookie belongs to that folder, since browsers send cookies to all ports of a host: another
/// server of this machine would learn it from whoever visits both.
package final class PageAccess: Sendable {
    /// What a request may have.
    package enum Decision: Hashable, Sendable {
        /// It brought the token; answer with ``PageAccess/cookie`` and the way to the page.
        case welcome
        /// It may have what it asks for: the path within the session's folder.
        case granted(path: [String])
        /// It may not, for a reason that a person can read.
        case refused(status: Int, reason: String)
    }

    /// The port that is listened on, by which a request names this server.
    private let port: UInt16
    private let token: Mutex<String?>
    private let key: String
    /// The folder of the session, which every path but the first begins with.
    package let session: String
    /// The token in the printed address.
    package let firstToken: String

    /// Creates the rules of a session.
    ///
    /// - Parameters:
    ///   - port: The port that is listened on.
    ///   - random: Where secrets come from.
    package init(port: UInt16, random: inout some RandomNumberGenerator) {
        self.port = port
        firstToken = Self.secret(&random)
        key = Self.secret(&random)
        session = Self.secret(&random)
        token = Mutex(firstToken)
    }

    /// 160 bits as letters and digits.
    private static func secret(_ random: inout some RandomNumberGenerator) -> String {
        let digits = Array("abcdefghijklmnopqrstuvwxyz234567")
        return String((0..<32).map { _ in digits[Int(random.next(upperBound: UInt(digits.count)))] })
    }

    private var authority: String { "127.0.0.1:\(port)" }
    /// The address that a person opens.
    package var address: String { "http://\(authority)/?token=\(firstToken)" }
    /// The value of `Set-Cookie`.
    package var cookie: String { "\(Self.cookieName)=\(key); Path=/\(session)/; HttpOnly; SameSite=Strict" }

    private static let cookieName = "searchlight"

    /// Decides of a request. Uses up the token if that is what it brings.
    package func decide(_ request: PageRequest) -> Decision {
        // A page of another site whose name was made to lead here (DNS rebinding) names that site.
        guard request.header("host") == authority else {
            return .refused(status: 403, reason: "This address is only served as \(authority).")
        }
        guard request.method == "GET" else { return .refused(status: 405, reason: "Only GET is answered.") }
        if request.headers["origin"] != nil, request.header("origin") != "http://\(authority)" {
            return .refused(status: 403, reason: "Another page asked for this.")
        }
        if request.path.isEmpty { return exchange(request.arguments["token"]) }
        // Browsers say where a request comes from; “none” is a person who opens an address.
        if let site = request.headers["sec-fetch-site"], site != ["same-origin"], site != ["none"] {
            return .refused(status: 403, reason: "Another page asked for this.")
        }
        guard Self.isEqual(request.path[0], session), brings(request.headers["cookie"] ?? []) else {
            return .refused(status: 403, reason: Self.advice)
        }
        return .granted(path: Array(request.path.dropFirst()))
    }

    private func exchange(_ given: String?) -> Decision {
        let isRight = token.withLock { token in
            guard let expected = token, let given, Self.isEqual(given, expected) else { return false }
            token = nil
            return true
        }
        return isRight ? .welcome : .refused(status: 403, reason: Self.advice)
    }

    private static let advice = """
        The address of Quick Look works once, in one browser. Run “searchlight quicklook” again for a new one.
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
