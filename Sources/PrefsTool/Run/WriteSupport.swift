import Foundation
import PersistentPreferences
import PrefsFileEngine

/// What every write of the tool has in common: waits for locks are reported, and replaced bytes are kept for an undo.
struct WriteSupport {
    private let invocation: Invocation
    private let program: Program

    init(_ invocation: Invocation, of program: Program) {
        self.invocation = invocation
        self.program = program
    }

    func run(_ command: () throws -> Outcome) throws -> Outcome {
        // Its writes are not those of a user.
        if case .stress = invocation.command { return try command() }
        let (folder, failure) = (UndoFolder(of: program), Locked<String?>(nil))
        let save: @Sendable (FileReplacement) -> Void = { replacement in
            do {
                try folder.save(replacement)
            } catch {
                failure.withLock { $0 = "this cannot be undone: \(error)" }
            }
        }
        var outcome = try LockWait.$current.withValue(lockWait) {
            try FileReplacement.$observer.withValue(save) {
                let forced = try domainToReplace()
                return try withExtendedLifetime(forced) { try command() }
            }
        }
        if let text = failure.withLock({ $0 }) {
            outcome.messages.append(Outcome.Message(text: text, isError: false, isJSON: invocation.wantsJSON))
        }
        return outcome
    }

    private var lockWait: LockWait {
        // A line would damage the screen of the editor.
        var isQuiet = false
        if case .edit = invocation.command { isQuiet = true }
        let (name, context, wantsJSON, isSilent) = (program.name, program.context, invocation.wantsJSON, isQuiet)
        return LockWait(
            timeout: invocation.timeout,
            notice: { text in
                guard !isSilent else { return }
                let message = Outcome.Message(text: text, isError: false, isJSON: wantsJSON)
                context.writeError(message.line(as: name, in: context) + "\n")
            })
    }

    /// Before a write of the class to a file that is not ours: asks, and opens the domain so that the write replaces the file.
    private func domainToReplace() throws -> Roots? {
        switch invocation.command {
        case .set, .unset, .reset, .increment, .toggle, .import(nil, _, _): break
        default: return nil
        }
        if invocation.isDryRun || (invocation.target ?? program.target)?.suite != nil { return nil }
        guard let target = try? PrefsRunner(invocation, of: program).ownTarget(),
            case .notOurs(let file)? = try? target.domain().entries().failure
        else { return nil }
        var risks = Risks()
        risks.add(DomainRunner.risk(of: file))
        try Confirmation(program: program, isForced: invocation.isForced).require(risks)
        let domain = try target.domain(isForced: true)
        _ = try domain.entries()
        return domain
    }
}
