// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord

/// Documents and questions, with human judgements of how well each document answers each question.
struct JudgedCollection {
    var documents: [(identifier: String, title: String, text: String)]
    var questions: [(identifier: String, text: String)]
    /// The grades by question identifier and document identifier; a larger grade is better.
    var grades: [String: [String: Double]]

    private struct Document: Decodable {
        var id: String
        var title: String
        var text: String
    }

    /// Reads a collection.
    ///
    /// Each line of `docs.jsonl` has `id`, `title` and `text`. `queries.tsv` contains the
    /// identifier and text of each question. `qrels.tsv` is in TREC's format (question, 0,
    /// document, grade).
    ///
    /// - Throws: ``BenchmarkError`` if a file cannot be read or has an unknown format.
    init(folder: String) throws {
        func lines(_ name: String) throws -> [Substring] {
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else {
                throw BenchmarkError("\(folder)/\(name) cannot be read.")
            }
            return String(decoding: data, as: UTF8.self).split(separator: "\n")
        }
        let decoder = JSONDecoder()
        documents = try lines("docs.jsonl").map { line in
            guard let document = try? decoder.decode(Document.self, from: Data(line.utf8)) else {
                throw BenchmarkError("A line of \(folder)/docs.jsonl is not a document: \(line.prefix(80))")
            }
            return (document.id, document.title, document.text)
        }
        questions = try lines("queries.tsv").map { line in
            let fields = line.split(separator: "\t", maxSplits: 1)
            guard fields.count == 2 else {
                throw BenchmarkError("A line of \(folder)/queries.tsv is not a question: \(line.prefix(80))")
            }
            return (String(fields[0]), String(fields[1]))
        }
        grades = [:]
        for line in try lines("qrels.tsv") {
            let fields = line.split(separator: "\t")
            guard fields.count == 4, let grade = Double(fields[3]) else {
                throw BenchmarkError("A line of \(folder)/qrels.tsv is not a judgement: \(line.prefix(80))")
            }
            grades[String(fields[0]), default: [:]][String(fields[2])] = grade
        }
    }

    /// Returns the normalized discounted cumulative gain of the first ten documents for a question,
    /// 0 to 1; `nil` without judgements.
    ///
    /// - Parameter found: The identifiers of the documents, best first.
    func gain(of found: [String], for question: String) -> Double? {
        guard let grades = grades[question] else { return nil }
        func sum(_ grades: [Double]) -> Double {
            grades.prefix(10).enumerated().reduce(0) { $0 + $1.element / log2(Double($1.offset) + 2) }
        }
        let best = sum(grades.values.sorted(by: >))
        return best == 0 ? nil : sum(found.prefix(10).map { grades[$0] ?? 0 }) / best
    }
}
