// SPDX-License-Identifier: Apache-2.0
import QuickLookSimulator
import TestSupport
import Testing

/// Who gets to see the page.
@Suite("Access to the page")
struct PageAccessTests {
    private let access: PageAccess

    init() {
        var random = SplitMix64(seed: 7)
        access = PageAccess(port: 4711, random: &random)
    }

    private func request(
        _ path: [String], _ arguments: [String: String] = [:], method: String = "GET", _ headers: [String: String] = [:]
    ) -> PageRequest {
        PageRequest(
            method: method, path: path, arguments: arguments,
            headers: ["host": "127.0.0.1:4711"].merging(headers) { $1 }.mapValues { [$0] })
    }

    private var cookie: String { String(access.cookie.prefix { $0 != ";" }) }
    private func visit(_ headers: [String: String] = [:], method: String = "GET") -> PageAccess.Decision {
        access.decide(request([access.session, ""], method: method, ["cookie": cookie].merging(headers) { $1 }))
    }

    @Test("The token of the printed address is taken once")
    func token() {
        #expect(access.address == "http://127.0.0.1:4711/?token=\(access.firstToken)")
        #expect(access.decide(request([], ["token": access.firstToken])) == .welcome)
        guard case .refused(403, _) = access.decide(request([], ["token": access.firstToken])) else {
            Issue.record("it is taken again")
            return
        }
    }

    @Test("A wrong token is refused, and does not use up the right one", arguments: ["", "x", nil])
    func wrongToken(_ token: String?) {
        guard case .refused(403, _) = access.decide(request([], token.map { ["token": $0] } ?? [:])) else {
            Issue.record("\(token ?? "none") is taken")
            return
        }
        #expect(access.decide(request([], ["token": access.firstToken])) == .welcome)
    }

    @Test("The cookie leads to what is in the session's folder, and is kept from scripts and other sites")
    func cookieOfTheSession() {
        #expect(visit() == .granted(path: [""]))
        #expect(access.cookie.hasSuffix("; Path=/\(access.session)/; HttpOnly; SameSite=Strict"))
        #expect(visit(["cookie": "a=b; \(cookie)"]) == .granted(path: [""]))
    }

    @Test(
        "Without the right cookie, host, origin or folder nothing is given",
        arguments: [
            ["cookie": ""], ["cookie": "searchlight=x"], ["cookie": "searchlight"], ["host": "evil.example:4711"],
            ["host": "localhost:4711"], ["host": "127.0.0.1"], ["host": "127.0.0.1:4712"], ["host": ""],
            ["origin": "http://evil.example"], ["origin": "null"], ["origin": "http://127.0.0.1:4712"],
            ["sec-fetch-site": "cross-site"], ["sec-fetch-site": "same-site"],
        ])
    func refused(_ headers: [String: String]) {
        guard case .refused(403, let reason) = visit(headers) else {
            Issue.record("\(headers) is let in")
            return
        }
        #expect(!reason.contains(access.session) && !reason.contains(cookie))
        let other = access.decide(request(["other", ""], ["cookie": cookie]))
        guard case .refused(403, _) = other else {
            Issue.record("another folder is served")
            return
        }
    }

    @Test("Two hosts in one request are none")
    func twoHosts() {
        var request = request([access.session, ""], ["cookie": cookie])
        request.headers["host"] = ["127.0.0.1:4711", "evil.example"]
        guard case .refused(403, _) = access.decide(request) else {
            Issue.record("it is let in")
            return
        }
    }

    @Test("Nothing but GET is answered", arguments: ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT"])
    func methods(_ method: String) {
        guard case .refused(405, _) = visit(method: method) else {
            Issue.record("\(method) is answered")
            return
        }
    }

    @Test("No two sessions share a secret")
    func secrets() {
        var random = SplitMix64(seed: 8)
        let others = (0..<20).map { _ in PageAccess(port: 4711, random: &random) }
        let secrets = others.flatMap { [$0.firstToken, $0.session, $0.cookie] }
        #expect(Set(secrets).count == secrets.count && access.firstToken.count == 32)
    }
}
