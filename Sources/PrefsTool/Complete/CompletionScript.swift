/// The completion scripts. Each asks the program for the completions of the word at the cursor, so it fits every
/// version of it.
struct CompletionScript {
    /// The first argument of the run that lists the words. It is not a public command.
    static let commandName = "complete-words"

    /// The command that the shell completes: the first word of the name.
    private let command: String
    /// The words of the name that follow the command; usually none.
    private let subcommand: [String]
    /// The name for functions.
    private let function: String
    private let name: String

    init(of program: Program) {
        let words = program.name.split(separator: " ").map(String.init)
        command = words.first ?? program.name
        subcommand = Array(words.dropFirst())
        function = "_" + program.name.map { $0.isLetter && $0.isASCII || $0.isNumber && $0.isASCII ? $0 : "_" }
        name = program.name
    }

    func text(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    private var words: String { subcommand.map { ShellCommand.text([$0]) + " " }.joined() }

    // MARK: - bash

    private var bash: String {
        """
        # Completions of \(name) for bash: source <(\(name) completions bash)
        # shellcheck shell=bash
        \(function)() {
            local kind="" text
            COMPREPLY=()
        \(subcommand.isEmpty ? "" : bashOtherWords)\
            {
                IFS= read -r -d '' kind
                while IFS= read -r -d '' text; do COMPREPLY+=("$text"); done
            } < <("${1/#\\~/$HOME}" \(words)\(Self.commandName) bash \(subcommand.count + 1) "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2> /dev/null)
            if [[ $kind == files && ${#COMPREPLY[@]} == 0 ]]; then compopt -o default 2> /dev/null; fi
        }
        \(subcommand.isEmpty ? "" : bashFormer)\
        complete -F \(function) \(ShellCommand.text([command]))

        """
    }

    /// Keeps the completions of the command's other arguments.
    private var bashOtherWords: String {
        let tests = subcommand.enumerated().map { "${COMP_WORDS[\($0 + 1)]} == \(ShellCommand.text([$1]))" }
        return """
                if ((COMP_CWORD <= \(subcommand.count))) || ! [[ \(tests.joined(separator: " && ")) ]]; then
                    if [[ -n $\(function)_former ]]; then
                        "$\(function)_former" "$@"
                    else
                        compopt -o default 2> /dev/null
                    fi
                    if ((COMP_CWORD == 1)); then
                        while IFS= read -r text; do COMPREPLY+=("$text"); done < <(compgen -W \(ShellCommand.text([subcommand[0]])) -- "$2")
                    fi
                    return
                fi

            """
    }

    private var bashFormer: String {
        """
        if ! [[ $(complete -p \(ShellCommand.text([command])) 2> /dev/null) =~ \\ -F\\ ([^\\ ]+) ]]; then
            \(function)_former=""
        elif [[ ${BASH_REMATCH[1]} != \(function) ]]; then
            \(function)_former=${BASH_REMATCH[1]}
        fi

        """
    }

    // MARK: - zsh

    private var zsh: String {
        let first = subcommand.count + 2
        return """
            #compdef \(command)
            # Completions of \(name) for zsh: a file of this text named \(function) in a folder of $fpath,
            # or: source <(\(name) completions zsh)
            \(function)() {
                local -a replies texts shown
                local kind text note program=${(Q)words[1]}
            \(subcommand.isEmpty ? "" : zshOtherWords)\
                replies=("${(@0)$("${program/#\\~/$HOME}" \(words)\(Self.commandName) zsh "${(@Q)words[\(first),CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}")
                kind=$replies[1]
                for text note in "${(@)replies[2,-2]}"; do
                    texts+=("$text")
                    shown+=("${(V)text}${note:+  -- $note}")
                done
                if (( $#texts )); then compadd -l -d shown -a texts; fi
                if [[ $kind == files ]]; then
                    [[ $PREFIX == --*=* ]] && compset -P '*='
                    _files
                fi
            }
            \(subcommand.isEmpty ? "" : zshFormer)\
            if [[ ${funcstack[1]} == \(function) ]]; then
                \(function) "$@"
            else
                compdef \(function) \(ShellCommand.text([command]))
            fi

            """
    }

    private var zshOtherWords: String {
        let tests = subcommand.enumerated().map { "${(Q)words[\($0 + 2)]} == \(ShellCommand.text([$1]))" }
        return """
                if ! (( CURRENT > \(subcommand.count + 1) )) || ! [[ \(tests.joined(separator: " && ")) ]]; then
                    if (( CURRENT == 2 )); then compadd -- \(ShellCommand.text([subcommand[0]])); fi
                    if [[ -n $\(function)_former ]]; then $\(function)_former "$@"; else _files; fi
                    return
                fi

            """
    }

    private var zshFormer: String {
        """
        if [[ ${_comps[\(command)]:-} != \(function) ]]; then typeset -g \(function)_former=${_comps[\(command)]:-}; fi

        """
    }

    // MARK: - fish

    private var fish: String {
        let first = subcommand.count + 2
        let isOurs = subcommand.enumerated().map {
            "test \"$words[\($0 + 2)]\" = \(ShellCommand.text([$1])); or return"
        }
        return """
            # Completions of \(name) for fish: \(name) completions fish | source
            function _\(function)
                set -l words (commandline -opc)
                set -l word (commandline -ct | string replace -r '^[\\'"]' '')
            \(isOurs.map { "    \($0)\n" }.joined())\
                set -l program (string replace -r '^~' -- $HOME $words[1])
                set -l replies ($program \(words)\(Self.commandName) fish $words[\(first)..] "$word" 2> /dev/null | string split0)
                if test "$replies[1]" = files
                    set -l option (string match -r -- '^--[^=]*=' $word)
                    for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' $word))
                        set -a replies "$option$path"
                    end
                end
                if test (count $replies) -gt 1
                    string join0 -- $replies[2..] | string split0
                end
            end
            \(subcommand.isEmpty ? "" : fishOtherWords)\
            complete -c \(ShellCommand.text([command]))\(subcommand.isEmpty ? "" : " -n _\(function)_is_next") -f -a '(_\(function))'

            """
    }

    private var fishOtherWords: String {
        let tests = subcommand.enumerated().map { "test \"$words[\($0 + 2)]\" = \(ShellCommand.text([$1]))" }
        let command = ShellCommand.text([command])
        return """
            function _\(function)_is_next
                set -l words (commandline -opc)
                \(tests.joined(separator: "; and "))
            end
            complete -c \(command) -n 'test (count (commandline -opc)) = 1' -a \(ShellCommand.text([subcommand[0]]))

            """
    }
}

/// A shell that the program has completions for.
enum Shell: String, CaseIterable {
    case bash, zsh, fish
}
