// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import UniformTypeIdentifiers

struct TypesTreeCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "tree", abstract: "Print a type and all types that conform to it, or the whole hierarchy.",
        discussion: """
            A type with several parents is below each of them. Its own subtree is printed once, and “… above” refers back to \
            it. In JSON “above” is true for such a reference.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The type at the top.")
    var identifier: String?

    func perform() async throws {
        options.registerTypes()
        let snapshot = UTTypeRegistry.shared.snapshot
        var walk = TypeWalk(snapshot)
        let tops = try identifier.map { [try declaredType($0).identifier] } ?? walk.tops
        guard options.json else {
            for top in tops { try walk.visit(top, depth: 0, show) }
            if walk.isCut {
                Output.complain(
                    """
                    The hierarchy is too large or too deep; not all of it is shown. Name a type to see the types below it: \
                    searchlight types tree TYPE
                    """)
            }
            return
        }
        var builder = TreeBuilder()
        for top in tops { try walk.visit(top, depth: 0) { builder.add($0) } }
        try Output.printJSON(builder.finished())
    }

    private func show(_ step: TypeWalk.Step) throws {
        let indent = String(repeating: "  ", count: step.depth)
        try Output.line("\(indent)\(step.identifier)\(step.isAbove ? " … above" : "")\(step.isCut ? " …" : "")")
    }
}

/// Walks the hierarchy from the top, and expands each type once. The number and depth of types are
/// limited to bound the walk, because extensions can declare types.
private struct TypeWalk {
    struct Step {
        var identifier: String
        var depth: Int
        /// `true` if the type has already been expanded.
        var isAbove = false
        /// `true` if the type has children that are omitted.
        var isCut = false
    }

    /// The maximum depth; the core types have 11 levels.
    private static let maximumDepth = 100
    private static let maximumSteps = 100_000

    private let children: [String: [String]]
    let tops: [String]
    private var expanded: Set<String> = []
    private var steps = 0
    private(set) var isCut = false

    init(_ snapshot: UTTypeSnapshot) {
        var children: [String: [String]] = [:]
        var tops: [String] = []
        for type in snapshot.declaredTypes {
            let parents = snapshot.parents(of: type)
            if parents.isEmpty { tops.append(type.identifier) }
            for parent in parents { children[parent.identifier, default: []].append(type.identifier) }
        }
        self.children = children.mapValues { $0.sorted() }
        self.tops = tops.sorted()
    }

    /// Calls a closure for a type and then for all types below it, top down.
    mutating func visit(_ identifier: String, depth: Int, _ take: (Step) throws -> Void) throws {
        steps += 1
        guard steps <= Self.maximumSteps else {
            isCut = true
            return
        }
        let below = children[identifier] ?? []
        var step = Step(identifier: identifier, depth: depth)
        if !below.isEmpty {
            step.isAbove = expanded.contains(identifier)
            step.isCut = !step.isAbove && depth >= Self.maximumDepth
        }
        try take(step)
        isCut = isCut || step.isCut
        guard !step.isAbove, !step.isCut else { return }
        expanded.insert(identifier)
        for child in below { try visit(child, depth: depth + 1, take) }
    }
}

private struct TypeNode: Encodable {
    var identifier: String
    var above: Bool?
    var cut: Bool?
    var children: [TypeNode] = []
}

/// Builds a tree from the steps of a walk.
private struct TreeBuilder {
    /// The path to the most recent type, below a root without an identifier.
    private var open = [TypeNode(identifier: "")]

    mutating func add(_ step: TypeWalk.Step) {
        close(to: step.depth + 1)
        open.append(
            TypeNode(identifier: step.identifier, above: step.isAbove ? true : nil, cut: step.isCut ? true : nil))
    }

    private mutating func close(to count: Int) {
        while open.count > count, let node = open.popLast() { open[open.count - 1].children.append(node) }
    }

    mutating func finished() -> [TypeNode] {
        close(to: 1)
        return open[0].children
    }
}
