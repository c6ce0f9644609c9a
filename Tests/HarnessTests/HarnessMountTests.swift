#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// Scripts with mounts of their own.
    enum MountNamespace {
        /// Runs a script in a mount namespace of its own. `$0` is the home folder, `$1` is `prefs` and `$2` is `Probe`.
        static func run(_ script: String, _ home: HarnessHome) throws -> Printed {
            let programs = try ["prefs", "Probe"].map { try Child.executable($0).path }
            return Printed(
                try Child(
                    URL(filePath: "/usr/bin/unshare"),
                    ["--mount", "/bin/sh", "-ec", script, home.folder.path] + programs,
                    environment: ["HOME": home.folder.path]
                ).wait())
        }

        static func canRun(_ name: String, if condition: Bool = true) -> Bool {
            let canMount = condition && (try? run("mount -t tmpfs tmpfs \"$0\"", HarnessHome()).code) == 0
            return Hazard.canRun("mounts: \(name)", if: canMount, else: "needs root and namespaces")
        }
    }

    /// Files on file systems that are mounted in a container or in user space, and what `prefs doctor` says of them.
    @Suite(.waits) final class HarnessMountTests: HarnessSuite {
        /// One file of the host, mounted into a container. Its folder may be a mount, too.
        @Test(.enabled(if: MountNamespace.canRun("a file that is a mount"))) func doctorNamesAFileThatIsAMount() throws
        {
            let script = """
                cd "$0"; mkdir 'a b'; "$1" set -f 'a b/x.plist' A.k v; cp 'a b/x.plist' host.plist
                # More mounts than fit on a page of /proc.
                for n in $(seq 40); do mkdir -p mounts/$n; mount -t tmpfs tmpfs mounts/$n; done
                mount --bind 'a b' 'a b'; "$1" doctor -f 'a b/x.plist' >before; echo $?
                mount --bind host.plist 'a b/x.plist'; "$1" doctor -f 'a b/x.plist' || echo $?
                """
            let printed = try MountNamespace.run(script, home)
            #expect(printed.output.hasPrefix("0\n"), "\(printed)")
            #expect(
                printed.output.contains(
                    "the file is a mount of its own and cannot be replaced: writes are rejected; mount its folder into "
                        + "the container instead"), "\(printed)")
            #expect(printed.output.hasSuffix("\n1\n"), "\(printed)")
        }

        /// Linux tells a program its arguments in /proc.
        @Test(.enabled(if: MountNamespace.canRun("no /proc"))) func withoutProcNoCommandPassesForAnother() throws {
            let script = """
                cd "$0"; mount -t tmpfs tmpfs /proc
                "$1" set -f x.json a 1 2>&1 || echo $?; "$1" 2>&1 || echo $?; ls
                """
            let error = "prefs: the arguments of this program cannot be read: /proc is not mounted\n64\n"
            #expect(try MountNamespace.run(script, home) == Printed(error + error))
        }

        /// A file system in user space.
        @Test(.enabled(if: MountNamespace.canRun("a file system in user space", if: Child.installed("bindfs") != nil)))
        func doctorNamesAFileSystemOfWhichTheLockIsLocal() throws {
            let script = """
                cd "$0"; mkdir 'a b' m; bindfs 'a b' m; "$1" set -f m/x.plist A.k v
                "$1" doctor -f m/x.plist; echo $?; "$1" doctor -f 'a b/x.plist'; umount m
                """
            let printed = try MountNamespace.run(script, home)
            let notes = printed.output.matches(
                of: /note: the file is on fuse(\.bindfs)?: its lock keeps out only programs that use this mount\n/)
            #expect(notes.count == 1, "\(printed)")
            #expect(printed.output.contains("\n0\n"), "\(printed)")
        }

        /// The folder of the file hears nothing of an edit on the host.
        @Test(.enabled(if: MountNamespace.canRun("an edit of a file that is a mount")))
        func anEditOfAFileThatIsAMountIsTold() throws {
            let script = """
                cd "$0"; mkdir box; echo '{"a":1}' >host.json; echo >box/x.json
                mount --bind host.json box/x.json
                "$1" watch -f box/x.json >told & watcher=$!
                for try in $(seq 100); do
                    echo "{\\"a\\":$((try + 1))}" >host.json; sleep 0.1
                    if [ -s told ]; then echo told; break; fi
                done
                kill $watcher
                """
            #expect(try MountNamespace.run(script, home).output == "told\n")
        }

        /// Every file there is shown as another user's, also a new one. A replacement keeps the owner.
        @Test(.enabled(if: MountNamespace.canRun("other owners", if: Child.installed("bindfs") != nil)))
        func filesThatAreShownAsAnotherUsersAreWritten() throws {
            let script = """
                cd "$0"; chmod 755 .; mkdir behind m; chmod 777 behind; echo '{"a":1}' >behind/s.json
                bindfs --force-user=12345 --perms=a=rwX behind m
                user="setpriv --reuid 54321 --regid 54321 --clear-groups"
                $user "$1" set -f m/s.json a +1 2>&1 | grep -v undone || true
                $user "$1" set -f m/new.plist A.k v 2>&1 | grep -v undone || true
                cat behind/s.json; "$1" get -f behind/new.plist A.k
                $user "$1" doctor -f m/s.json | grep -c 'nothing can be stored' || true; umount m
                """
            let printed = try MountNamespace.run(script, home)
            #expect(printed.output.hasSuffix("{\"a\":2}\nv\n0\n"), "\(printed)")
        }

        /// The owner of the folder has no number in the namespace of a container that an ordinary user has started.
        @Test(.enabled(if: MountNamespace.canRun("a container without root", if: Child.installed("setpriv") != nil)))
        func theRootOfAUserNamespaceUsesAFolderThatItMayWrite() throws {
            let script = """
                cd "$0"; chmod 755 .; mkdir shared; chmod 777 shared; chown 54321 shared
                user="setpriv --reuid 12345 --regid 12345 --clear-groups"
                $user unshare --user --map-root-user "$1" set -f shared/x.plist A.k v 2>&1 | grep -v undone || true
                "$1" get -f shared/x.plist A.k
                """
            let printed = try MountNamespace.run(script, home)
            #expect(printed.output.hasSuffix("v\n"), "\(printed)")
        }

        /// UserDefaults uses one file for all such programs.
        @Test(.enabled(if: MountNamespace.canRun("without /proc"))) func withoutProcTheDefaultStoreIsThatOfTheProgram()
            throws
        {
            let script = """
                mount -t tmpfs none /proc; PROBE_COMMAND=report "$2"; ls "$0/.config"
                """
            let printed = try MountNamespace.run(script, home)
            #expect(printed.output == "init: ok\nwrite: ok\nread: 1 ok\nProbe.plist\n", "\(printed)")
        }

        @Test(
            .enabled(if: MountNamespace.canRun("a full volume")),
            arguments: ["size=64k", "size=1m,nr_inodes=3"])
        func doctorNamesAFullVolume(_ limit: String) throws {
            let script = """
                cd "$0"; mkdir m; mount -t tmpfs -o \(limit) tmpfs m; "$1" set -f m/x.plist A.k v
                "$1" doctor -f m/x.plist >/dev/null; echo $?; dd if=/dev/zero of=m/all bs=4k count=250 2>/dev/null || true
                "$1" doctor -f m/x.plist || echo $?
                """
            let printed = try MountNamespace.run(script, home)
            #expect(printed.output.hasPrefix("0\n"), "\(printed)")
            #expect(printed.output.contains("m is full: nothing can be stored"), "\(printed)")
            #expect(printed.output.hasSuffix("\n1\n"), "\(printed)")
        }
    }
#endif
