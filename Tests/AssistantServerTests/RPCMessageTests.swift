// SPDX-License-Identifier: Apache-2.0
import JSONText
import TestSupport
import Testing

@testable import AssistantServer

@Suite("Hostile messages of assistants")
struct RPCMessageTests {
    private struct Broken: Error {}

    @Test("Any line is a message, an answer to ignore, or an error of JSON-RPC")
    func lines() throws {
        let samples = [
            #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search","arguments":{"query":"ferry"}}}"#,
            #"{"jsonrpc":"2.0","id":"a\u00e9","method":"ping"}"#, #"{"jsonrpc":"2.0","id":3,"result":{}}"#,
        ]
        let tokens = ["{", "}", "[", "]", ":", ",", "null", "\"", "\"id\":", "\\u0000", "1e999", "\"params\":"]
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: samples.map { Array($0.utf8) }, tokens: tokens.map { Array($0.utf8) })
        let accepted = try loop.run(MutationLoop.inputs) { line in
            do throws(RPCError) {
                guard let message = try RPCMessage(line: line) else { return true }
                switch message.identifier {
                case nil, .text, .integer: return true
                default: throw RPCError(.invalidRequest, "broken")
                }
            } catch {
                if error.message == "broken" { throw Broken() }
                return false
            }
        }
        #expect(accepted > MutationLoop.inputs / 50, "seed \(MutationLoop.seed)")
    }
}
