/// Parses the arguments, runs the command and returns what is printed.
enum Harness {
    /// - Parameter arguments: the arguments without the name of the program.
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

    /// Has no `default`, so that a command without an implementation does not compile.
    private static func run(_ invocation: Invocation) throws -> Outcome {
        let wantsJSON = invocation.wantsJSON
        func testSet() -> TestSetRunner { TestSetRunner(invocation) }
        func domain(_ target: Target) throws -> DomainRunner { try DomainRunner(target, wantsJSON: wantsJSON) }
        func transfer() throws -> TransferRunner {
            guard let target = invocation.domain else { return testSet().transfer() }
            return try domain(target).transfer(root: invocation.root)
        }
        return switch invocation.command {
        case .show: testSet().show()
        case .get(let name): testSet().get(name)
        case .set(let name, let text): testSet().set(name, to: text)
        case .unset(let name): testSet().unset(name)
        case .reset: testSet().reset()
        case .clear: testSet().clear()
        case .deleteAll: testSet().deleteAll()
        case .edit: testSet().edit()
        case .watch(let names): testSet().watch(names)
        case .read(let target, let root, let key): try domain(target).read(root: root, key: key)
        case .readType(let target, let root, let key): try domain(target).readType(root: root, key: key)
        case .write(let target, let root, let key, let value): try domain(target).write(root: root, key: key, value)
        case .delete(let target, let root, let key): try domain(target).delete(root: root, key: key)
        case .export(let format, let path): try transfer().export(as: format, to: path)
        case .import(let path, let merge, let dryRun):
            try transfer().importValues(from: path, merge: merge, dryRun: dryRun)
        case .vet(let path): VetRunner.run(path, wantsJSON: wantsJSON)
        case .doctor(let target, let mends):
            try Doctor.run(
                target ?? invocation.target ?? .suite(TestSetRunner.defaultSuite), mends: mends, wantsJSON: wantsJSON)
        case .stress(let plan): Stress(plan, wantsJSON: wantsJSON).run()
        case .completions: Outcome(output: Completions.bash)
        case .help(let spec): Outcome(output: Help.text(spec))
        case .version: Outcome(output: "prefs \(Help.version)\n")
        }
    }
}
