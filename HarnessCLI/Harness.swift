/// parse → run → print: each in a file of its own.
enum Harness {
    /// - Parameter arguments: without the name of the program.
    static func run(_ arguments: [String]) -> Outcome {
        if arguments.first == StressWorker.commandName { return StressWorker.run(Array(arguments.dropFirst())) }
        do {
            return try run(try Invocation(arguments))
        } catch {
            let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
            let code = error is UsageError ? Outcome.usageErrorCode : Outcome.failureCode
            return .failure("\(error)", code: code, asJSON: wantsJSON)
        }
    }

    private static func run(_ invocation: Invocation) throws -> Outcome {
        func domain(_ target: Target) throws -> DomainRunner {
            try DomainRunner(target, wantsJSON: invocation.wantsJSON)
        }
        switch invocation.command {
        case .read(let target, let root, let key): return try domain(target).read(root: root, key: key)
        case .readType(let target, let root, let key): return try domain(target).readType(root: root, key: key)
        case .write(let target, let root, let key, let value):
            return try domain(target).write(root: root, key: key, value)
        case .delete(let target, let root, let key): return try domain(target).delete(root: root, key: key)
        case .vet(let path): return VetRunner.run(path, wantsJSON: invocation.wantsJSON)
        case .doctor(let target, let mends):
            let target = target ?? invocation.target ?? .suite(TestSetRunner.defaultSuite)
            return try mends
                ? Doctor.mend(target, wantsJSON: invocation.wantsJSON)
                : Doctor.run(target, wantsJSON: invocation.wantsJSON)
        case .stress(let plan): return Stress(plan, wantsJSON: invocation.wantsJSON).run()
        case .completions: return Outcome(output: Completions.bash)
        case .help(let form): return Outcome(output: Help.text(form))
        case .version: return Outcome(output: "prefs \(Help.version)\n")
        case .export(let format, let path):
            if let target = invocation.domain {
                return try domain(target).transfer(root: invocation.root).export(as: format, to: path)
            }
        case .import(let path, let merge, let dryRun):
            if let target = invocation.domain {
                let transfer = try domain(target).transfer(root: invocation.root)
                return transfer.importValues(from: path, merge: merge, dryRun: dryRun)
            }
        default: break
        }
        return run(TestSetRunner(invocation), invocation)
    }

    /// The commands on the test set.
    private static func run(_ runner: TestSetRunner, _ invocation: Invocation) -> Outcome {
        let transfer = TransferRunner(
            target: TestSetTarget(prefs: runner.prefs), wantsJSON: invocation.wantsJSON)
        switch invocation.command {
        case .get(let name): return runner.get(name)
        case .set(let name, let text): return runner.set(name, to: text)
        case .unset(let name): return runner.unset(name)
        case .reset: return runner.reset()
        case .clear: return runner.clear()
        case .deleteAll: return runner.deleteAll()
        case .edit: return runner.edit()
        case .watch(let names): return runner.watch(names)
        case .export(let format, let path): return transfer.export(as: format, to: path)
        case .import(let path, let merge, let dryRun):
            return transfer.importValues(from: path, merge: merge, dryRun: dryRun)
        default: return runner.show()
        }
    }
}

/// Words that the harness does not understand, and how to mend them, in one line.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
