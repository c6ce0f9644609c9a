import Foundation

/// What git and stow do with the files beside the file. These files are about one machine, and programs lock and replace them, so
/// they must be neither committed nor linked.
extension Diagnosis {
    func managerFindings(_ surroundings: SidecarPaths) -> [Finding] {
        let paths = [surroundings.lock, surroundings.lastGood] + (surroundings.quarantined ?? []).prefix(1)
        let beside = paths.filter { FileMetadata($0) != nil }
        if beside.isEmpty { return [] }
        return [gitFinding(surroundings, beside.map(Self.name)), stowFinding(surroundings)].compactMap { $0 }
    }

    private static func name(_ path: String) -> String {
        String(decoding: path.utf8.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
    }

    /// A command that adds lines to a list. The list may lack its last line end.
    private static func adding(_ lines: [String], to list: String) -> String {
        "printf '%s\\n' \(ShellCommand.text([""] + lines)) >>\(ShellCommand.text([list]))"
    }

    // MARK: - git

    private func gitFinding(_ surroundings: SidecarPaths, _ beside: [String]) -> Finding? {
        let folder = surroundings.folder
        let folders = sequence(first: folder) { $0 == "/" ? nil : SidecarPaths.folder(of: $0) }
        guard folders.contains(where: { FileMetadata("\($0)/.git") != nil }) else { return nil }
        let names = beside.filter { isKept($0, in: folder) }
        if names.isEmpty { return nil }
        let name = Self.name(surroundings.file).map { "\\*?[]#! ".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        let lines = [".\(name).*", "\(name).corrupt-*", "\(name).init*"]
        let removal = ShellCommand.text(
            ["git", "-C", folder, "rm", "-q", "--cached", "--ignore-unmatch", "--"] + names)
        return Finding(
            reason:
                "git does not ignore \(names.joined(separator: ", ")): a commit, a stash or a pull would take them along; "
                + "the command adds them to .gitignore",
            command: "\(Self.adding(lines, to: "\(folder)/.gitignore")) && \(removal)", isProblem: false)
    }

    /// Whether git commits a file, or has. Asks git, because its rules come from several files. Does not let the repository start
    /// a program.
    private func isKept(_ name: String, in folder: String) -> Bool {
        let script = #"exec git -C "$1" -c core.fsmonitor=false check-ignore -q -- "$2" >/dev/null 2>&1"#
        let environment = program.context.environment.filter { !$0.key.hasPrefix("GIT_") }
        // Without git, and in a repository of another user, the code is another one.
        return (try? ChildProcess.run(["/bin/sh", "-c", script, "sh", folder, name], environment)) == 1 << 8
    }

    // MARK: - stow

    private func stowFinding(_ surroundings: SidecarPaths) -> Finding? {
        let packages = [path, surroundings.lock, surroundings.lastGood].compactMap(Self.stowPackage)
        guard let package = packages.first else { return nil }
        let lists = [
            "\(package)/.stow-local-ignore", "\(program.context.variable("HOME") ?? "")/.stow-global-ignore",
        ]
        // The first list that exists replaces the others, and stow's own.
        let there = lists.first { FileMetadata($0) != nil }
        let list = there.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        let names = [surroundings.lock, surroundings.lastGood].map(Self.name)
        if let list, names.allSatisfy({ Self.stowIgnores($0, by: list) }) { return nil }
        let name = Self.name(surroundings.file).map {
            "\\^".contains($0) ? "\\\($0)" : ".*+?()[]{}|$#".contains($0) ? "[\($0)]" : "\($0)"
        }.joined()
        let usual = ["[.]git", "[.]gitignore", "^/README.*", "^/LICENSE.*", "^/COPYING"]
        let lines = (there == nil ? usual : []) + ["[.]\(name)[.].+", "\(name)[.]corrupt-.*", "\(name)[.]init.*"]
        return Finding(
            reason:
                "if \(package) is a package of stow, stow links the files beside the file, too; the command adds them to "
                + "its list of ignored names",
            command: Self.adding(lines, to: there ?? lists[0]), isProblem: false)
    }

    /// The package that a path may lead into: `~/dotfiles/app` for `~/.config/app/config.json`, which leads to
    /// `~/dotfiles/app/.config/app/config.json`.
    private static func stowPackage(_ path: String) -> String? {
        guard let file = (try? SidecarPaths(path: path))?.file, file != path, name(file) == name(path) else {
            return nil
        }
        var (link, target) = (path.split(separator: "/"), file.split(separator: "/"))
        while let last = link.last, last == target.last {
            link.removeLast()
            target.removeLast()
        }
        let package = "/" + target.joined(separator: "/")
        let isMarked = FileMetadata("\(SidecarPaths.folder(of: package))/.stow") != nil
        return isMarked || target.count > 1 && target.dropLast(2) == link[...] ? package : nil
    }

    /// Whether a list has an expression for a name. Expressions of paths, with a slash, are not understood.
    private static func stowIgnores(_ name: String, by list: String) -> Bool {
        list.split(separator: "\n").contains { line in
            let expression = line.replacing(/(^|\s+)#.*/, with: "").trimmingCharacters(in: .whitespaces)
            return !expression.isEmpty && name.range(of: "^(?:\(expression))$", options: .regularExpression) != nil
        }
    }
}
