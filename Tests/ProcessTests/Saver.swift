import Foundation
import TestSupport

/// A program that saves a file, as people and scripts run it.
enum Saver: String, CaseIterable, Sendable {
    case vim, emacs, nano, install
    case tar = "tar x"
    case git = "git checkout"
    case sed = "sed -i"
    case sedBackup = "sed -i.bak"
    case move = "mv --backup"
    case patch = "patch -b"
    case perl = "perl -pi.bak"
    case rsync
    case shell = ">"
    /// The file is empty for 200 ms.
    case slowShell = "slow >"
    case copy = "cp --remove-destination"

    /// What the program is called in `PREFS_SAVER`.
    var program: String {
        switch self {
        case .sedBackup: "sed.bak"
        case .move: "mv"
        case .shell: "sh"
        case .slowShell: "slow"
        case .copy: "cp"
        default: String(rawValue.prefix { $0 != " " })
        }
    }

    /// The savers that this run uses: those of `PREFS_SAVER`, a list with commas, or all that are installed.
    static let chosen: [Saver] = {
        let names = ProcessInfo.processInfo.environment["PREFS_SAVER"]?.split(separator: ",").map(String.init)
        if let unknown = names?.first(where: { name in !allCases.contains { $0.program == name } }) {
            fatalError("PREFS_SAVER: no saver \(unknown), but \(allCases.map(\.program))")
        }
        return allCases.filter { saver in
            guard names?.contains(saver.program) ?? true else { return false }
            let tool = [.sedBackup: "sed", .slowShell: "sh"][saver] ?? saver.program
            return Hazard.canRun(
                "savers: \(saver.rawValue)", if: Child.installed(tool) != nil, else: "\(tool) is missing")
        }
    }()

    /// Whether it saves through a link. The others would replace the link, so they get the path of the file.
    var followsLinks: Bool { [.vim, .emacs, .nano, .shell, .slowShell].contains(self) }

    /// What a shell runs before the program under test reads the file. `$FILE` is the file; `$NEW/1/config.json` is its
    /// first new state; `$LAST` is the number of saves.
    var preparation: String? {
        switch self {
        case .tar: #"for i in $(seq "$LAST"); do tar cf "$NEW/$i.tar" -C "$NEW/$i" config.json; done"#
        case .git:
            """
            cd "${FILE%/*}"
            export GIT_CONFIG_NOSYSTEM=1
            git init -q 2>&1
            git config user.name Test
            git config user.email test@example.com
            git config gc.auto 0
            for i in $(seq 0 "$LAST"); do
                cat "$NEW/$i/config.json" >config.json
                git add config.json
                git commit -q -m "$i"
                git tag "r$i"
            done
            git checkout -q r0 -- config.json
            """
        default: nil
        }
    }

    /// What a shell runs to save the state with the number `$ROUND`; nil for `nano`, which needs a terminal.
    var script: String? {
        switch self {
        // Answers that the file shall be written although it has changed since it was read. If it changes again in the
        // meantime, vim refuses with E949, and a person saves again.
        case .vim:
            #"""
            yes y 2>&- | head -n 99 | vim -u NONE -i NONE -n -N -es -c '%s/"round": \d\+/"round": '"$ROUND"/ -c '
                for i in range(99)
                    try
                        write!
                        quit!
                    catch /E949/
                    catch
                        call writefile([v:exception], "/dev/stderr")
                        cquit
                    endtry
                endfor
                cquit' "$FILE"
            """#
        case .emacs:
            #"""
            emacs -Q --batch --eval '(progn
                (load "userlock")
                (fset (quote yes-or-no-p) (lambda (&rest _) t))
                (fset (quote ask-user-about-supersession-threat) (lambda (_) t))
                (find-file (getenv "FILE"))
                (goto-char (point-min))
                (re-search-forward "\"round\": [0-9]+")
                (replace-match (concat "\"round\": " (getenv "ROUND")) t t)
                (save-buffer))' 2>"$NEW/emacs" || { cat "$NEW/emacs"; exit 1; }
            """#
        case .nano: nil
        case .install: #"install -m 644 "$NEW/$ROUND/config.json" "$FILE""#
        case .tar: #"tar xf "$NEW/$ROUND.tar" -C "${FILE%/*}""#
        case .git: #"git -C "${FILE%/*}" checkout -q "r$ROUND" -- config.json"#
        case .sed: #"sed -i 's/"round": [0-9]*/"round": '"$ROUND"/ "$FILE""#
        case .sedBackup: #"sed -i.bak 's/"round": [0-9]*/"round": '"$ROUND"/ "$FILE""#
        case .move: #"cp "$NEW/$ROUND/config.json" "$FILE.new" && mv --backup "$FILE.new" "$FILE""#
        case .patch:
            #"""
            cat "$FILE" >"$NEW/old"
            sed 's/"round": [0-9]*/"round": '"$ROUND"/ "$NEW/old" >"$NEW/new"
            diff -U1 "$NEW/old" "$NEW/new" >"$NEW/difference"
            patch -s -b "$FILE" "$NEW/difference"
            """#
        case .perl: #"perl -pi.bak -e 's/"round": \d+/"round": '"$ROUND"/ "$FILE""#
        case .rsync: #"rsync -aI "$NEW/$ROUND/config.json" "$FILE""#
        case .shell: #"cat "$NEW/$ROUND/config.json" >"$FILE""#
        case .slowShell: #"{ sleep 0.2; cat "$NEW/$ROUND/config.json"; } >"$FILE""#
        case .copy: #"cp --remove-destination "$NEW/$ROUND/config.json" "$FILE""#
        }
    }
}
