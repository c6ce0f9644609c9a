import Foundation
import TestSupport
import Testing

/// `prefs doctor` notes that git or stow would take the files beside a file along, and its commands end that.
@Suite(.waits) final class HarnessDoctorManagersTests: HarnessSuite {
    private static let hasGit = ConditionTrait.needs(
        "doctor: git", Child.installed("git") != nil, else: "git is missing")
    private static let hasStow = ConditionTrait.needs(
        "doctor: stow", Child.installed("stow") != nil, else: "stow is missing")

    /// The notes of `doctor`, which has changed nothing.
    private func notes(_ path: String, _ variables: [String: String] = [:]) throws -> [[String: Any]] {
        let before = try home.state()
        let printed = try prefs(["doctor", "--json", "-f", path], variables)
        #expect(try home.state() == before)
        #expect(printed.code == 0 && printed.errors == "", "\(printed)")
        let findings = try DoctorReport(members: printed.object(), code: printed.code).findings
        #expect(findings.allSatisfy { $0["isProblem"] as? Bool == false })
        return findings
    }

    /// A file that a program of this package has written.
    private func written(_ name: String) throws -> String {
        try home.claim(name)
        #expect(try prefs("set", "-f", home.path(name), "a=1") == Printed())
        return home.path(name)
    }

    private func bash(_ script: String) throws -> [String] {
        let printed = try home.bash("set -e; \(script)")
        #expect(printed.code == 0 && printed.errors == "", "\(printed)")
        return printed.output.split(separator: "\n").map(String.init)
    }

    // MARK: - git

    private static let gitNote =
        ": a commit, a stash or a pull would take them along; the command adds them to .gitignore"

    /// Before and after a commit of everything. The name has characters that mean something in `.gitignore`.
    @Test(hasGit, arguments: ["config.json", "#1 [a]*?!.json"], [false, true])
    func theCommandMakesGitIgnoreTheFilesBesideAFile(_ name: String, _ isCommitted: Bool) throws {
        _ = try bash("git init -q .; mkdir etc; printf '*.bak' >etc/.gitignore")
        let path = try written("etc/\(name)")
        let commit = "git -c user.name=T -c user.email=t@example.org commit -q -m 1"
        if isCommitted { _ = try bash("git add -A; \(commit)") }
        let notes = try notes(path)
        try #require(notes.count == 1)
        let names = ".\(name).lock, .\(name).lastgood"
        #expect(notes[0]["reason"] as? String == "git does not ignore \(names)\(Self.gitNote)")
        _ = try bash(#require(notes[0]["command"] as? String))
        #expect(try self.notes(path).isEmpty)
        // A first write that is killed leaves such files.
        for ending in ["init", "init.lock"] { try home.write(Data(), to: "etc/\(name).\(ending)") }
        _ = try bash("git add -A; touch etc/a.bak")
        let kept = try bash("git ls-files -z -o -c --exclude-standard -- etc | tr '\\0' '\\n'")
        #expect(kept.sorted() == ["etc/\(name)", "etc/.gitignore"].sorted())
        // The files are there, and the next write uses them.
        #expect(FileManager.default.fileExists(atPath: home.path("etc/.\(name).lock")))
        #expect(try prefs("set", "-f", path, "a=2") == Printed())
    }

    @Test(hasGit) func onlyWhatGitKeepsIsNamed() throws {
        let path = try written("x.json")
        _ = try bash("git init -q .; echo .x.json.lastgood >.gitignore; touch -d '1 hour ago' x.json.corrupt-1")
        // A repository may name a program for git to run.
        _ = try bash(
            """
            printf '#!/bin/sh\\ntouch "$HOME/ran"\\n' >hook; chmod +x hook; git add .x.json.lock
            git config core.fsmonitor "$HOME/hook"
            """)
        // The variables of a hook of git name another repository.
        let notes = try notes(path, ["GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere"])
        #expect(
            notes.map { $0["reason"] as? String } == [
                "git does not ignore .x.json.lock, x.json.corrupt-1\(Self.gitNote)"
            ])
    }

    @Test(
        hasGit,
        arguments: [
            "true", "mkdir .git", "git init -q .; echo '.x.json.*' >.gitignore",
            "git init -q .; echo '.x.*' >.git/info/exclude",
            "git init -q .; rm .x.json.lock .x.json.lastgood",
        ]) func whatGitDoesNotKeepIsNotNamed(script: String) throws
    {
        let path = try written("x.json")
        _ = try bash(script)
        #expect(try notes(path).isEmpty)
    }

    @Test(hasGit) func aRepositoryFarAboveIsFound() throws {
        _ = try bash("git init -q .; mkdir -p a/b/c")
        #expect(try notes(written("a/b/c/x.json")).count == 1)
    }

    /// In a worktree, as in a submodule, .git is a file.
    @Test(hasGit) func aWorktreeIsARepository() throws {
        let author = "-c user.name=Test -c user.email=test@example.com"
        let made = try bash(
            """
            git init -q main; cd main; git \(author) commit -q --allow-empty -m a
            git worktree add -q ../tree; test -f ../tree/.git && echo file
            """)
        #expect(made == ["file"])
        #expect(try notes(written("tree/x.json")).count == 1)
    }

    @Test(hasGit) func withoutGitNothingIsNoted() throws {
        let path = try written("x.json")
        _ = try bash("git init -q .")
        #expect(try notes(path).count == 1)
        #expect(try notes(path, ["PATH": home.path("")]).isEmpty)
    }

    // MARK: - stow

    /// As after `stow app`.
    private func linkPackage(_ package: String = "dotfiles/app", target: String = "../../dotfiles/app") throws -> String
    {
        _ = try bash(
            """
            mkdir -p .config/app \(package)/.config/app; echo '{}' >\(package)/.config/app/config.json
            ln -s \(target)/.config/app/config.json .config/app/config.json
            touch -d '1 hour ago' .config/app \(package)/.config/app \(package)/.config/app/config.json
            """)
        _ = try written("\(package)/.config/app/config.json")
        return home.path(".config/app/config.json")
    }

    @Test(hasStow) func theCommandMakesStowIgnoreTheFilesBesideAFile() throws {
        let path = try linkPackage()
        let list = "ls -A .config/app"
        let notes = try notes(path)
        try #require(notes.count == 1)
        let package = home.path("dotfiles/app")
        #expect(
            notes[0]["reason"] as? String
                == "if \(package) is a package of stow, stow links the files beside the file, too; the command adds them to its list of ignored names"
        )
        // This is what the command ends.
        _ = try bash("echo 1 >dotfiles/app/README; cd dotfiles; stow -R app; stow -D app")
        _ = try bash("cd dotfiles; stow app")
        #expect(
            try bash("\(list); ls").sorted() == [
                ".config.json.lastgood", ".config.json.lock", "config.json", "dotfiles",
            ])
        _ = try bash("cd dotfiles; stow -D app")
        _ = try bash(#require(notes[0]["command"] as? String))
        _ = try bash("touch dotfiles/app/.config/app/config.json.init; cd dotfiles; stow app; stow -R app")
        #expect(try bash("\(list); ls").sorted() == ["config.json", "dotfiles"])
        #expect(try self.notes(path).isEmpty)
        #expect(try prefs("set", "-f", path, "a=2") == Printed())
    }

    /// A list of the user, and lists with comments and expressions of paths.
    @Test(arguments: [
        (#"echo '\.config\.json\..*  # of a program' >dotfiles/app/.stow-local-ignore"#, false),
        (#"printf '%s\n' '\..+\.lock' '\..+\.lastgood' >.stow-global-ignore"#, false),
        (#"echo '\..+\.(lock|lastgood)' >.stow-global-ignore; echo x >dotfiles/app/.stow-local-ignore"#, true),
        (#"echo '\..+\.lock' >dotfiles/app/.stow-local-ignore"#, true),
        (#"echo '# \..+\.(lock|lastgood)' >dotfiles/app/.stow-local-ignore"#, true),
        (#"echo '(' >dotfiles/app/.stow-local-ignore"#, true),
        (#"echo x >.stow-global-ignore"#, true),
    ]) func whatStowIgnoresIsNotNoted(script: String, isNoted: Bool) throws {
        let path = try linkPackage()
        _ = try bash(script)
        let notes = try notes(path)
        #expect(notes.count == (isNoted ? 1 : 0))
        guard let command = notes.first?["command"] as? String else { return }
        // Adds to the list that stow reads. Stow's own list is there only if there is no other.
        #expect(!command.contains("README"))
        _ = try bash(command)
        #expect(try self.notes(path).isEmpty)
    }

    /// `stow -R` has linked everything, and `sed -i` has then made a file of the settings link.
    @Test func aLinkedLockFileIsOfStow() throws {
        let path = try linkPackage()
        _ = try bash(
            """
            for name in .config.json.lock .config.json.lastgood; do
                ln -s ../../dotfiles/app/.config/app/$name .config/app/$name
            done
            sed -i s/1/2/ .config/app/config.json; touch -d '1 hour ago' .config/app/config.json
            """)
        let reasons = try notes(path).compactMap { $0["reason"] as? String }
        #expect(
            reasons.contains {
                $0.hasSuffix(
                    "/.config/app/.config.json.lock is a link to nothing or to an empty file: the next write replaces the link"
                )
            })
        #expect(reasons.contains { $0.hasPrefix("if \(home.path("dotfiles/app")) is a package of stow, ") })
    }

    /// A link that is not one of stow, a package elsewhere, and one whose folder has the mark of stow.
    @Test(arguments: [
        ("cloud", "../../cloud", false), ("a/b/c", "../../a/b/c", false), ("a/dots/app", "../../a/dots/app", true),
    ])
    func whatStowDoesNotManageIsNotNoted(package: String, target: String, isMarked: Bool) throws {
        if isMarked { _ = try bash("mkdir -p a/dots; touch a/dots/.stow") }
        #expect(try notes(linkPackage(package, target: target)).count == (isMarked ? 1 : 0))
    }

    // MARK: - Links as lock files

    /// Links that the next write replaces.
    @Test(arguments: ["ln -sf nothing $L", ": >empty; ln -sf empty $L"])
    func anEmptyLinkAsLockFileIsNoProblem(script: String) throws {
        let path = try written("x.json")
        _ = try bash("L=.x.json.lock; \(script)")
        let notes = try notes(path)
        let lock = home.path(".x.json.lock")
        #expect(
            notes.map { $0["reason"] as? String }
                == ["the lock file \(lock) is a link to nothing or to an empty file: the next write replaces the link"])
        #expect(notes.first?["command"] is NSNull)
    }

    /// Other links make each write fail.
    @Test(arguments: [
        "echo 1 >full; ln -sf full $L", "mkdir f; ln -sf f $L", "rm $L; ln -s $L $L", "ln -sf /dev/null $L",
    ])
    func anotherLinkAsLockFileIsAProblem(script: String) throws {
        let path = try written("x.json")
        _ = try bash("L=.x.json.lock; \(script)")
        let report = try home.doctor(path)
        let lock = home.path(".x.json.lock")
        #expect(report.code == 1 && report.findings.count == 1)
        let reason = report.findings.first?["reason"] as? String
        #expect(reason?.hasPrefix("the lock file \(lock) cannot be used: is a link; expected a regular file") == true)
        _ = try bash(#require(report.commands.first))
        #expect(try prefs("set", "-f", path, "a=2") == Printed())
    }

    /// The link or its target belongs to another user.
    @Test(
        .needs("doctor: links of others", geteuid() == 0, else: "only root can do that"),
        arguments: [
            "ln -sf nothing $L; chown -h 65534 $L", ": >empty; chown 65534 empty; ln -sf empty $L",
        ]) func aLinkOfOthersAsLockFileIsAProblem(script: String) throws
    {
        let path = try written("x.json")
        _ = try bash("L=.x.json.lock; \(script)")
        #expect(try home.doctor(path).code == 1)
    }

    // MARK: - The lists of the documents

    /// All names in the table of "Troubleshooting" are ignored by the lists in "Files that people edit".
    @Test(hasGit, hasStow) func theListsOfTheDocumentsAreComplete() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../Sources/PersistentPreferences").standardized
            .appending(path: "PersistentPreferences.docc")
        func page(_ name: String) throws -> [String] {
            try String(contentsOf: folder.appending(path: name), encoding: .utf8).components(separatedBy: "\n")
        }
        let rows = try page("Troubleshooting.md").filter { $0.hasPrefix("| `") && $0.contains("NAME") }
        let names = rows.flatMap { $0.split(separator: "|")[0].matches(of: /`([^`]+)`/).map { String($0.1) } }
            .map { $0.replacing("DATE-PID", with: "20261129T000000Z-1").replacing("PID-TIME", with: "1-2") }
        #expect(names.count == 8)
        let all = ["config.json", "config.json.init"].flatMap { name in names.map { $0.replacing("NAME", with: name) } }
        let lines = try page("FilesThatPeopleEdit.md")
        func list(_ file: String) throws -> String {
            let begin = try #require(lines.firstIndex { $0.contains("belong into `\(file)`") })
            return lines[begin...].drop { !$0.hasPrefix("    ") }.prefix { $0.hasPrefix("    ") }
                .map { $0.dropFirst(4) }.joined(separator: "\n") + "\n"
        }
        try FileManager.default.createDirectory(atPath: home.path("dotfiles/app"), withIntermediateDirectories: true)
        for name in all + ["config.json", "README"] { try home.write(Data(), to: "dotfiles/app/\(name)") }
        try home.write(Data(list(".gitignore").utf8), to: "dotfiles/app/.gitignore")
        try home.write(Data(list(".stow-local-ignore").utf8), to: "dotfiles/app/.stow-local-ignore")
        #expect(
            try bash("cd dotfiles/app; git init -q .; git ls-files -o --exclude-standard").sorted()
                == [".gitignore", ".stow-local-ignore", "README", "config.json"])
        #expect(try bash("cd dotfiles; stow app; cd ..; ls -A") == ["config.json", "dotfiles"])
    }
}
