// SPDX-License-Identifier: Apache-2.0

/// The reason why a model cannot be used, or why an embedding was not computed.
package enum EmbeddingError: Error, Hashable, CustomStringConvertible {
    /// A file of the model is missing, unreadable or damaged.
    case file(path: String, reason: String)
    /// A file of the model is intact, but the encoder does not support its contents.
    case unsupported(path: String, reason: String)
    /// A text has more tokens than the model has positions. The splitter and the tokenizer respect
    /// a limit, so their tokens always fit.
    case tooLong(tokens: Int, limit: Int)
    /// A token is not in the word embedding table.
    case unknownToken(Int32)
    /// The model's weights produce values that are not finite.
    case notFinite
    /// The caller cancelled between two layers.
    case cancelled

    package var description: String {
        switch self {
        case .file(let path, let reason):
            "Cannot read the embedding model: \(path): \(reason) Install the model again."
        case .unsupported(let path, let reason):
            "Cannot use the embedding model: \(path): \(reason) Install a model of the BERT family, such as "
                + "all-MiniLM-L6-v2, bge-small-en or e5-small."
        case .tooLong(let tokens, let limit): "The text has \(tokens) tokens; the limit of the model is \(limit)."
        case .unknownToken(let token): "The model has no embedding for the token \(token)."
        case .notFinite:
            "The weights of the embedding model are damaged: a result is not finite. Install the model again."
        case .cancelled: "The embedding was cancelled."
        }
    }
}

/// The reason why a file's content is rejected, as a sentence without the path.
package struct ModelProblem: Error {
    enum Kind { case damaged, unsupported }
    let kind: Kind
    package let text: String

    static func damaged(_ text: String) -> ModelProblem { ModelProblem(kind: .damaged, text: text) }
    static func unsupported(_ text: String) -> ModelProblem { ModelProblem(kind: .unsupported, text: text) }

    func error(in path: String) -> EmbeddingError {
        switch kind {
        case .damaged: .file(path: path, reason: text)
        case .unsupported: .unsupported(path: path, reason: text)
        }
    }
}
