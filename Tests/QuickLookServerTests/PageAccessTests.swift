// SPDX-License-Identifier: Apache-2.0
import QuickLookServer
import Synchronization
import TestSupport
import Testing

/// Access to the page.
@Suite("Access to the page")
struct PageAccessTests {
    private let access: PageAccess

    init() {
        var random = SplitMix64(seed: 7)
        access = PageAccess(port: 4711, random: &random)
    }

    private func request(
        _ path: [String], _ form: [String: String] = [:], method: String = "GET", _ headers: [String: String] = [:]
    ) -> PageRequest {
        PageRequest(
            method: method, path: path, form: form,
            headers: ["host": "127.0.0.1:4711"].merging(headers) { $1 }.mapValues { [$0] })
    }

    private var cookie: String { String(access.cookie.prefix { $0 != ";" }) }
    private func visit(_ headers: [String: String] = [:], method: String = "GET") -> PageAccess.Decision {
        access.decide(request([access.session, ""], method: method, ["cookie": cookie].merging(headers) { $1 }))
    }
    private func bring(_ code: String?, _ headers: [String: String] = [:]) -> PageAccess.Decision {
        access.decide(request([], code.map { ["code": $0] } ?? [:], method: "POST", headers))
    }

    @Test("The code is accepted once, in a form, and not in a URL")
    func code() {
        #expect(access.address == "http://127.0.0.1:4711/")
        var inAddress = request([])
        inAddress.arguments = ["code": access.code, "token": access.code]
        #expect(access.decide(inAddress) == .invited)
        #expect(bring(access.code) == .welcome && access.isUsed)
        guard case .refused(403, let reason) = bring(access.code) else {
            Issue.record("it is accepted again")
            return
        }
        #expect(reason.contains("Run “searchlight quicklook” again"))
        guard case .refused(403, reason) = access.decide(request([])) else {
            Issue.record("it is asked for again")
            return
        }
    }

    @Test("The code is accepted as copied by a user, and from a file, which has no origin")
    func copied() {
        let text = " \(access.code.prefix(16).uppercased()) \(access.code.dropFirst(16))\n"
        #expect(bring(text, ["origin": "null", "sec-fetch-site": "cross-site"]) == .welcome)
    }

    @Test("Only a POST of the page itself opens an item, so that no link in a preview does")
    func actions() {
        func open(_ method: String, _ headers: [String: String]) -> PageAccess.Decision {
            access.decide(
                request(
                    [access.session, "api", "open", "5"], method: method, ["cookie": cookie].merging(headers) { $1 }))
        }
        let own = ["origin": "http://127.0.0.1:4711"]
        #expect(open("POST", own) == .granted(path: ["api", "open", "5"]))
        for (method, headers) in [
            ("GET", own), ("POST", [:]), ("POST", ["origin": "null"]), ("POST", ["origin": "https://evil.example"]),
            ("POST", own.merging(["cookie": ""]) { $1 }),
            ("POST", own.merging(["sec-fetch-site": "cross-site"]) { $1 }),
        ] {
            guard case .refused = open(method, headers) else {
                Issue.record("\(method) \(headers)")
                continue
            }
        }
        guard case .refused(405, _) = visit(own, method: "POST") else {
            Issue.record("the page is posted to")
            return
        }
    }

    @Test("Another site with the code is rejected, and does not use it up")
    func otherSite() {
        for origin in ["https://evil.example", "http://127.0.0.1:4712", ""] {
            guard case .refused(403, _) = bring(access.code, ["origin": origin]) else {
                Issue.record("\(origin) is let in")
                return
            }
        }
        #expect(bring(access.code) == .welcome)
    }

    @Test("A wrong code is rejected, and does not use up the right one", arguments: ["", "x", nil])
    func wrongCode(_ code: String?) {
        guard case .refused(403, _) = bring(code) else {
            Issue.record("\(code ?? "none") is accepted")
            return
        }
        #expect(bring(access.code) == .welcome)
    }

    @Test("An expired code is not valid")
    func expired() {
        let now = Mutex(ContinuousClock.now)
        var random = SplitMix64(seed: 7)
        let access = PageAccess(port: 4711, life: .seconds(120), now: { now.withLock { $0 } }, random: &random)
        now.withLock { $0 += .seconds(120) }
        guard case .refused(403, _) = access.decide(request([], ["code": access.code], method: "POST")),
            case .refused(403, _) = access.decide(request([]))
        else {
            Issue.record("it is accepted")
            return
        }
        #expect(!access.isUsed)
    }

    @Test("The cookie is limited to the session's folder, and hidden from scripts and other sites")
    func cookieOfTheSession() {
        #expect(visit() == .granted(path: [""]))
        #expect(access.cookie.hasSuffix("; Path=/\(access.session)/; HttpOnly; SameSite=Strict"))
        #expect(visit(["cookie": "a=b; \(cookie)"]) == .granted(path: [""]))
    }

    @Test(
        "Without the right cookie, host, origin or folder the server returns nothing",
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

    @Test("Two hosts in one request are rejected")
    func twoHosts() {
        var request = request([access.session, ""], ["cookie": cookie])
        request.headers["host"] = ["127.0.0.1:4711", "evil.example"]
        guard case .refused(403, _) = access.decide(request) else {
            Issue.record("it is let in")
            return
        }
    }

    @Test(
        "Only GET is answered in the session's folder",
        arguments: ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT"])
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
        let secrets = others.flatMap { [$0.code, $0.session, $0.cookie] }
        #expect(Set(secrets).count == secrets.count && access.code.count == 32)
    }
}
