// A worker on one of many machines. All workers share their settings, and the number of jobs that they have done
// together, in etcd.
//
//     swift run Fleet etcd://10.0.0.1:2379,10.0.0.2:2379/fleet/ 100     # on each machine, 100 jobs

import Foundation
import PersistentPreferences
import PrefsEtcd

final class FleetPrefs: Prefs, @unchecked Sendable {
    @Pref var jobs = 0
    @Pref(.in(1...100)) var step = 1
}

guard CommandLine.arguments.count == 3, let jobs = Int(CommandLine.arguments[2]) else {
    FileHandle.standardError.write(Data("usage: Fleet etcd://HOST:PORT/PREFIX JOBS\n".utf8))
    exit(64)
}
do {
    let prefs = FleetPrefs(store: try .etcd(url: CommandLine.arguments[1]))
    // Called after each change by any worker, or by: etcdctl put fleet/r/FleetPrefs '{"step": 2}'
    let observation = prefs.$step.onChange { print("the step is", $1) }
    for _ in 0..<jobs {
        // One transaction of the whole fleet.
        try prefs.update { prefs.jobs += prefs.step }.get()
    }
    print("done; the fleet has", prefs.jobs)
    observation.cancel()
} catch {
    FileHandle.standardError.write(Data("Fleet: \(error)\n".utf8))
    exit(1)
}
