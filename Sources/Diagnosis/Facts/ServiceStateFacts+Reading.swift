// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightEngine
import SystemSupport

extension ServiceStateFacts {
    /// Finds the listener on the store's socket without connecting, because a connection would make
    /// systemd start the service. If the service is running, it is then asked for its facts.
    static func read(_ roots: DiagnosisRoots) async -> ServiceStateFacts? {
        guard var facts = await Patience.look(roots.patience, { Self.listener(roots) }) else { return nil }
        guard case .service = facts.listener else { return facts }
        let answer = await Patience.ask(
            roots.patience,
            { () async -> Answer? in
                do throws(EngineError) {
                    let service = try await RemoteEngine.connect(
                        storeDirectory: roots.store, program: "searchlight doctor",
                        patience: .milliseconds(Int64(roots.patience * 1000)))
                    guard let service else { return nil }
                    let answer: Answer
                    do throws(EngineError) { answer = .facts(try await service.perform(FactsCall())) } catch {
                        answer = .failure(error.description)
                    }
                    await service.close()
                    return answer
                } catch {
                    return .failure(error.description)
                }
            })
        if let answer {
            facts.answer = answer
        } else {
            facts.answer = .failure("It did not respond within \(Int(roots.patience.rounded(.up))) s.")
        }
        if facts.answer == nil { facts.listener = .nobody }
        return facts
    }

    /// The maximum number of processes that are checked.
    private static let maximumProcesses = 65536
    /// The maximum number of descriptors that are checked per process.
    private static let maximumDescriptors = 4096
    /// The maximum size of the socket table, in bytes.
    private static let maximumTable = 8 << 20

    private static func listener(_ roots: DiagnosisRoots) -> ServiceStateFacts {
        let path = StoreLocation(folder: roots.store).socketPath
        var facts = ServiceStateFacts(listener: .noSocket, answer: nil, descriptorLimit: nil, isReplaced: false)
        var status = stat()
        let isThere = lstat(path, &status) == 0
        let inodes = listening(at: path, roots.proc)
        if let process = service(inodes, roots) {
            let folder = "\(roots.proc)/\(process)"
            facts.listener = .service(process: process)
            facts.descriptorLimit = descriptorLimit(folder)
            facts.isReplaced = link(folder + "/exe")?.hasSuffix(" (deleted)") == true
        } else if !inodes.isEmpty {
            facts.listener = .other
        } else if isThere {
            facts.listener = .nobody
        }
        return facts
    }

    /// Returns the inode numbers of the sockets that listen on a path, from `/proc/net/unix`
    /// (proc(5)).
    private static func listening(at path: String, _ proc: String) -> Set<Substring> {
        guard let table = ProbedFile.text(proc + "/net/unix", limit: maximumTable) else { return [] }
        let names = Set([path, ProbedFile.resolved(path) ?? path])
        var found: Set<Substring> = []
        for line in table.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 7)
            // The flag __SO_ACCEPTCON marks a listening socket.
            guard fields.count == 8, let flags = UInt32(fields[3], radix: 16), flags & 0x10000 != 0,
                names.contains(String(fields[7]))
            else { continue }
            found.insert(fields[6])
        }
        return found
    }

    /// Returns a service process that has one of these sockets or the store's lock file open.
    private static func service(_ inodes: Set<Substring>, _ roots: DiagnosisRoots) -> Int32? {
        var lock = stat()
        let hasLock = stat(roots.store + "/lock", &lock) == 0
        for name in ProbedFile.names(roots.proc, limit: maximumProcesses) {
            guard let process = Int32(name), ProbedFile.word("\(roots.proc)/\(name)/comm") == roots.serviceName else {
                continue
            }
            let folder = "\(roots.proc)/\(name)/fd"
            for number in ProbedFile.names(folder, limit: maximumDescriptors) {
                let target = link("\(folder)/\(number)") ?? ""
                if target.hasPrefix("socket:["), inodes.contains(target.dropFirst(8).dropLast()) { return process }
                var status = stat()
                if hasLock, target.hasPrefix("/"), stat("\(folder)/\(number)", &status) == 0,
                    status.st_ino == lock.st_ino, status.st_dev == lock.st_dev
                {
                    return process
                }
            }
        }
        return nil
    }

    /// Returns the soft limit in the line `Max open files`, which also contains the hard limit.
    private static func descriptorLimit(_ folder: String) -> Int? {
        guard let table = ProbedFile.text(folder + "/limits"),
            let line = table.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") })
        else { return nil }
        let fields = line.split(separator: " ")
        return fields.count > 3 ? Int(fields[3]) : nil
    }

    private static func link(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
