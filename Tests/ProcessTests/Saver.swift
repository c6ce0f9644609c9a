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
    /// The folder of the file is exchanged for another one. There is none for so many milliseconds, and for those that `mv` takes.
    case exchange0 = "mv folder, 0 ms"
    case exchange2 = "mv folder, 2 ms"
    case exchange20 = "mv folder, 20 ms"
    case exchange200 = "mv folder, 200 ms"
    /// As `restic restore`: the file has its size at once, and its bytes later.
    case sizeFirst3 = "size first, 3 ms"
    case sizeFirst30 = "size first, 30 ms"
    case halves = "in halves, 20 ms"
    /// Over the former bytes: half of the new bytes, and later the other half.
    case inPlace = "in place, 20 ms"
    case dd = "dd conv=notrunc"
    case rsyncInPlace = "rsync --inplace"
    /// As `git pull` with a change that is not committed.
    case gitStash = "git stash, merge, stash pop"
    case gitBranch = "git checkout of a branch"

    /// What it is called in `PREFS_SAVER`. Some savers share a name.
    var program: String {
        switch self {
        case .exchange0, .exchange2, .exchange20, .exchange200: "exchange"
        case .sizeFirst3, .sizeFirst30: "size"
        case .halves: "halves"
        case .inPlace: "place"
        case .rsyncInPlace: "rsync.inplace"
        case .gitStash: "git.stash"
        case .gitBranch: "git.branch"
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
            return Hazard.canRun(
                "savers: \(saver.rawValue)", if: Child.installed(saver.tool) != nil, else: "\(saver.tool) is missing")
        }
    }()

    /// The program that has to be installed.
    private var tool: String {
        switch self {
        case .sedBackup: "sed"
        case .slowShell: "sh"
        case .exchange0, .exchange2, .exchange20, .exchange200: "mv"
        case .sizeFirst3, .sizeFirst30, .halves, .inPlace: "perl"
        case .rsyncInPlace: "rsync"
        case .gitStash, .gitBranch: "git"
        default: program
        }
    }

    /// How the file is there. The savers that change one line of the text know no other format than JSON.
    var settings: [SaverRun.Setting] {
        switch self {
        case .exchange0, .exchange2, .exchange20, .exchange200, .sizeFirst3, .sizeFirst30, .halves, .inPlace, .dd,
            .rsyncInPlace, .gitBranch:
            SaverRun.Setting.formats
        // git merges no binary files.
        case .gitStash: SaverRun.Setting.formats.filter { $0.format != .binary }
        default: SaverRun.Setting.all
        }
    }

    /// Whether a mixture of two states would be noticed, because they differ in every part.
    var changesAllParts: Bool {
        [.sizeFirst3, .sizeFirst30, .halves, .inPlace, .dd, .rsyncInPlace].contains(self)
    }

    var exchangesFolder: Bool { [.exchange0, .exchange2, .exchange20, .exchange200].contains(self) }

    /// Whether it saves through a link. The others would replace the link, so they get the path of the file.
    var followsLinks: Bool { [.vim, .emacs, .nano, .shell, .slowShell].contains(self) }

    /// What a shell runs before the program under test reads the file. `$FILE` is the file; `$NEW/1` has a file of the same
    /// name with its first new state; `$LAST` is the number of saves.
    var preparation: String? {
        switch self {
        case .tar: #"for i in $(seq "$LAST"); do tar cf "$NEW/$i.tar" -C "$NEW/$i" config.json; done"#
        case .git, .gitStash, .gitBranch:
            #"""
            cd "${FILE%/*}"
            name="${FILE##*/}"
            export GIT_CONFIG_NOSYSTEM=1
            git init -q 2>&1
            git config user.name Test
            git config user.email test@example.com
            git config gc.auto 0
            printf '%s\n' ".$name.*" "$name.corrupt-*" >.gitignore
            for i in $(seq 0 "$LAST"); do
                cat "$NEW/$i/$name" >"$name"
                git add .gitignore "$name"
                git commit -q -m "$i"
                git branch "r$i"
            done
            git reset -q --hard r0
            """#
        default: nil
        }
    }

    /// What a shell runs to save the state with the number `$ROUND`; nil for `nano`, which needs a terminal. `$ROLE` is what
    /// the program under test does, and `$COPY` its last good copy.
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
        case .exchange0: Self.exchange(pause: ":")
        case .exchange2: Self.exchange(pause: "sleep 0.002")
        case .exchange20: Self.exchange(pause: "sleep 0.02")
        case .exchange200: Self.exchange(pause: "sleep 0.2")
        case .sizeFirst3: Self.writing("size 0.003")
        case .sizeFirst30: Self.writing("size 0.03")
        case .halves: Self.writing("halves 0.02")
        case .inPlace: Self.writing("place 0.02")
        // In pieces of 64 bytes.
        case .dd:
            #"""
            set -e
            [ -z "$COPY" ] || rm -f "$COPY"
            new="$NEW/$ROUND/${FILE##*/}"
            dd if="$new" of="$FILE" bs=64 conv=notrunc 2>"$NEW/dd" || { cat "$NEW/dd"; exit 1; }
            truncate -r "$new" "$FILE"
            """#
        case .rsyncInPlace:
            #"""
            [ -z "$COPY" ] || rm -f "$COPY"
            rsync -aI --inplace "$NEW/$ROUND/${FILE##*/}" "$FILE"
            """#
        case .gitStash: Self.stash
        case .gitBranch:
            #"GIT_CONFIG_NOSYSTEM=1 git -C "${FILE%/*}" checkout -q -f "r$ROUND""#
        }
    }

    /// The code of a script that has exceeded the time of its moment, so that it proves nothing.
    static let tooSlow: Int32 = 75
    /// The code of a script whose file was replaced between its open and its first byte. No reader can know of such a save.
    static let replacedBeforeFirstByte: Int32 = 76

    /// Exchanges the folder of the file by two renames: for a copy of it with the new state, or for a new folder. Fails if the
    /// folder is another one afterwards, and with `tooSlow` if it takes so long that the file may count as deleted.
    private static func exchange(pause: String) -> String {
        #"""
        set -e
        folder="${FILE%/*}"
        nested="$folder/${folder##*/}.new"
        rm -rf "$folder.old" "$folder.new" "$nested"
        if [ -n "$COPY" ]; then
            mkdir "$folder.new"
        else
            cp -a "$folder" "$folder.new" 2>"$NEW/cp" || [ -d "$folder.new" ]
        fi
        cp "$NEW/$ROUND/${FILE##*/}" "$folder.new"
        number="$(stat -c %i "$folder.new")"
        begin="$(date +%s%N)"
        mv "$folder" "$folder.old"
        \#(pause)
        code=0
        mv "$folder.new" "$folder" 2>"$NEW/mv" || code=$?
        [ $(($(date +%s%N) - begin)) -lt 240000000 ] || exit \#(tooSlow)
        [ $code = 0 ] || { cat "$NEW/mv"; exit $code; }
        [ ! -e "$nested" ] || { echo "mv has put the new folder inside of another one"; exit 1; }
        [ "$(stat -c %i "$folder")" = "$number" ] || { echo "the folder is another one"; exit 1; }
        """#
    }

    /// Writes the file with few system calls. Fails with `tooSlow` if it takes so long that what is there may count as whole or as damaged.
    ///
    /// - Parameter arguments: what is written when, and the seconds in between.
    private static func writing(_ arguments: String) -> String {
        #"""
        perl -e '
            use Fcntl;
            use Time::HiRes "time";
            my ($way, $pause) = @ARGV;
            my $name = $ENV{FILE} =~ s|.*/||r;
            open(my $new, "<:raw", "$ENV{NEW}/$ENV{ROUND}/$name") or die "$!";
            my $bytes = do { local $/; <$new> };
            my $size = length $bytes;
            my $half = $size >> 1;
            unlink $ENV{COPY} if $ENV{COPY};
            sysopen(my $file, $ENV{FILE}, O_RDWR | ($way eq "place" ? 0 : O_TRUNC)) or die "$!";
            my $isReplaced = (stat $file)[1] != ((stat $ENV{FILE})[1] // 0);
            my $begin = time;
            if ($way eq "size") {
                truncate($file, $size) or die "$!";
            } else {
                syswrite($file, $bytes, $half) == $half or die "$!";
            }
            select(undef, undef, undef, $pause);
            my $rest = $way eq "size" ? 0 : $half;
            syswrite($file, $bytes, $size - $rest, $rest) == $size - $rest or die "$!";
            truncate($file, $size) or die "$!";
            close($file) or die "$!";
            exit \#(tooSlow) if time - $begin >= ($way eq "place" ? 0.045 : 0.45);
            exit \#(replacedBeforeFirstByte) if $isReplaced;
        ' \#(arguments)
        """#
    }

    /// A program that goes on writing makes `git merge` refuse, and the change that is put away has a newer successor. A person
    /// then repeats the merge and drops the change. Also if a write has made the file again while git was replacing it: of the
    /// hundreds of tries, a few meet the moment between the last look of a write and its rename.
    private static let stash = #"""
        cd "${FILE%/*}" || exit
        export GIT_CONFIG_NOSYSTEM=1
        for i in $(seq 200); do
            git stash -q -u 2>"$NEW/stash" || {
                [ "$ROLE" = writer ] && grep -q "File exists" "$NEW/stash" && continue
                cat "$NEW/stash"
                exit 1
            }
            if git merge -q --ff-only "r$ROUND" 2>"$NEW/merge"; then break; fi
            [ "$ROLE" = writer ] && [ "$i" -lt 200 ] || { cat "$NEW/merge"; exit 1; }
        done
        [ -n "$(git stash list)" ] || exit 0
        if [ "$ROLE" = writer ]; then
            git stash pop -q 2>"$NEW/merge" || git stash clear
            git stash clear
        else
            git stash pop -q
        fi
        """#
}
