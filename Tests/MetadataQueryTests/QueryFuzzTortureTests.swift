// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import MetadataQuery

@Suite("Torture, hostile queries")
struct QueryFuzzTortureTests {
    private struct Broken: Error { var reason: String }

    private static let tokens = [
        "==", "!=", "<=", "&&", "||", "!", "(", ")", "\"", "'", "\\", "*", "**", "cdwt", "InRange(", "$time.today(-1)",
        "$time.iso(2024-05-15)", "title", ",", " ", "\u{301}", "\u{0}",
    ].map { Array($0.utf8) }

    @Test("An accepted query is unchanged after printing; a rejected one has its error within the text")
    func metadataQueries() throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        let corpus = (0..<60).map { _ in Array(RandomQueries.expression(&random, depth: 2).description.utf8) }
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: corpus, tokens: Self.tokens)
        let accepted = try loop.run(MutationLoop.inputs) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let expression: QueryExpression
            do throws(QuerySyntaxError) {
                expression = try QueryExpression(parsing: text)
            } catch {
                guard error.position.utf8Offset <= text.utf8.count else { throw Broken(reason: "beyond the text") }
                return false
            }
            var limits = QueryLimits.standard
            limits.maximumBytes = .max
            let again = try QueryExpression(parsing: expression.description, limits: limits)
            guard again == expression, again.description == expression.description else {
                throw Broken(reason: "printed as \(expression.description)")
            }
            return true
        }
        #expect(accepted > MutationLoop.inputs / 50, "seed \(MutationLoop.seed)")
    }

    @Test("Any typed text becomes a query within the limits")
    func userQueries() throws {
        let corpus = ["visit Oslo", "\"exact words\" -not", "größe -\"a b\" c", "日本語 テスト"].map { Array($0.utf8) }
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: corpus, tokens: Self.tokens + [Array(" -".utf8)])
        _ = try loop.run(MutationLoop.inputs) { bytes in
            let query = UserQuery(String(decoding: bytes, as: UTF8.self))
            guard query.terms.count <= UserQuery.maximumTerms else { throw Broken(reason: "too many terms") }
            return true
        }
    }
}
