import Foundation

/// The completion script for bash, made of the lists that the parser uses.
struct Completions {
    private let program: Program

    init(of program: Program) {
        self.program = program
    }

    var bash: String {
        let commands = program.commands.map(\.name).joined(separator: " ")
        let optionsWithValue = program.options.filter { $0.valueName != nil }.map(\.name).joined(separator: "|")
        let options = program.commands.map { spec in
            let names = program.options.filter(spec.accepts).map(\.name).joined(separator: " ")
            return "        \(spec.name)) options=\"\(names)\" ;;"
        }
        let commandsOfKeys = program.commands.filter(\.takesKeyFirst).map(\.name).joined(separator: "|")
        return """
            # Completions of prefs for bash: source <(prefs completions)
            _prefs_files() {
                # One name per line, because names may contain spaces, which readline quotes.
                COMPREPLY=()
                local name
                while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$1")
                compopt -o filenames 2> /dev/null || :
            }
            _prefs() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command="" options i
                case $before in
                    --file) _prefs_files "$word"; return ;;
                    --format) COMPREPLY=($(compgen -W "json xml binary" -- "$word")); return ;;
                    \(optionsWithValue)) COMPREPLY=(); return ;;
                esac
                for ((i = 1; i < COMP_CWORD; i++)); do
                    case ${COMP_WORDS[i]} in
                        \(optionsWithValue)) ((i++)) ;;
                        -*) ;;
                        *) command=${COMP_WORDS[i]}; break ;;
                    esac
                done
                case ${command:-show} in
            \(options.joined(separator: "\n"))
                    *) options="" ;;
                esac
                if [[ $word == -* ]]; then
                    COMPREPLY=($(compgen -W "$options" -- "$word"))
                elif [[ -z $command ]]; then
                    COMPREPLY=($(compgen -W "\(commands)" -- "$word"))
                else
                    case $command in
                        \(commandsOfKeys)) COMPREPLY=($(compgen -W "int string array dictionary date" -- "$word")) ;;
                        help) COMPREPLY=($(compgen -W "\(commands)" -- "$word")) ;;
                        *) _prefs_files "$word" ;;
                    esac
                fi
            }
            complete -F _prefs prefs

            """
    }
}
