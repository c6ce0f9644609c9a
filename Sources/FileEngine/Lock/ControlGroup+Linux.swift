#if os(Linux) || os(Android)
    import Foundation

    /// What the kernel's files tell of the control groups of a process.
    enum ControlGroup {
        /// Whether a control group of the process, or a group above it, is frozen: a paused container, for example. The state
        /// of such a process in `/proc` is that of one that sleeps. False if the files cannot be read.
        ///
        /// - Parameter root: a folder with other files than those of this machine.
        static func isFrozen(_ pid: Int, root: String = "") -> Bool {
            let mounts = lines("\(root)/proc/self/mountinfo").compactMap(Mount.init)
            return lines("\(root)/proc/\(pid)/cgroup").contains { line in
                // `6:freezer:/docker/123`, and without controllers in version 2: `0::/user.slice`.
                let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
                guard fields.count == 3 else { return false }
                let isSecondVersion = fields[1].isEmpty
                guard isSecondVersion || fields[1].split(separator: ",").contains("freezer") else { return false }
                return mounts.contains { mount in
                    guard let group = mount.names(of: fields[2]) else { return false }
                    // The two versions have other files, so the mount of the other one shows nothing.
                    let folder = root + mount.point
                    return isSecondVersion ? isFrozen(group, below: folder) : isFrozenInFirstVersion(group, folder)
                }
            }
        }

        /// The group's own file shows whether all of its processes are frozen. The setting of a group holds for the groups
        /// below it, and counts at once.
        private static func isFrozen(_ group: [Substring], below folder: String) -> Bool {
            let groups = (0...group.count).map { ([Substring(folder)] + group.prefix($0)).joined(separator: "/") }
            return lines("\(groups[group.count])/cgroup.events").contains("frozen 1")
                || groups.contains { lines("\($0)/cgroup.freeze") == ["1"] }
        }

        /// The state includes that of the groups above.
        private static func isFrozenInFirstVersion(_ group: [Substring], _ folder: String) -> Bool {
            let state = lines(([Substring(folder)] + group).joined(separator: "/") + "/freezer.state")
            return state == ["FROZEN"] || state == ["FREEZING"]
        }

        /// A mount of control groups that shows which groups are frozen.
        private struct Mount {
            /// The path of the folder that the groups are mounted at.
            let point: Substring
            /// The names of the group that is mounted, from the outermost one on.
            let group: [Substring]

            /// Parses `35 26 0:30 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw`. nil for another mount.
            init?(_ line: Substring) {
                let words = line.split(separator: " ")
                guard let dash = words.firstIndex(of: "-"), dash > 5, words.count > dash + 3 else { return nil }
                let (type, options) = (words[dash + 1], words[dash + 3].split(separator: ","))
                guard type == "cgroup2" || type == "cgroup" && options.contains("freezer") else { return nil }
                (group, point) = (words[3].split(separator: "/"), words[4])
            }

            /// The names of a group below the mounted one; nil if the mount does not show the group.
            func names(of path: Substring) -> [Substring]? {
                let names = path.split(separator: "/")
                // The path of a group outside of the namespace begins with two dots.
                guard names.starts(with: group), !names.contains("..") else { return nil }
                return Array(names.dropFirst(group.count))
            }
        }

        private static func lines(_ path: String) -> [Substring] {
            SystemCalls.processFile(path).map { String(decoding: $0, as: UTF8.self).split(separator: "\n") } ?? []
        }
    }
#endif
