// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import ItemRecord
import SearchIndex

/// A store with a model and items whose embeddings are pending.
struct EmbeddingBacklog: PendingWork {
    let place: String
    let items: Int
    var job: ScheduledJob { ScheduledJob(key: .maintenance(.embed), urgency: .maintenance, requested: 0) }
    var amount: String { "\(items) items to embed" }

    private var store: String { place + "/store" }

    /// Creates the store.
    ///
    /// - Parameters:
    ///   - texts: A text for each item.
    ///   - model: The folder of the model.
    init(place: String, texts: [(title: String, text: String)], model: String) async throws {
        (self.place, items) = (place, texts.count)
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try await MeaningStore.fill(store, texts)
        try command(["semantic", "install", model, "--store", store, "--in-process"])
    }

    /// Starts a service. Each run continues where the previous one ended.
    func begin() async throws -> BusyService {
        try await settle()
        return try await started(try service())
    }

    /// Starts a service without waiting for its job.
    func service() throws -> ServiceProcess { try ServiceProcess(store: store, environment: environment) }

    /// Runs a command that the service answers, and checks that it succeeds.
    func ask(_ arguments: [String]) throws { try command(arguments + ["--store", store]) }
}

/// Stores for measurements of meaning.
enum MeaningStore {
    /// Creates a store with a text for each item.
    static func fill(_ store: String, _ texts: [(title: String, text: String)]) async throws {
        let index = try SearchIndex(directory: store, access: .readWrite)
        for start in stride(from: 0, to: texts.count, by: 500) {
            let batch = try (start..<min(start + 500, texts.count)).map { number in
                let (title, text) = texts[number]
                return try EncodedItem(
                    ItemRecord(
                        uniqueIdentifier: "item-\(number)", domainIdentifier: nil, expiration: .never,
                        attributes: ["title": .string(title), "textContent": .string(text)]))
            }
            try await index.index(batch, in: IndexScope(bundle: "com.example.texts"))
        }
        try await index.settle()
        try await index.close()
    }
}
