#if canImport(Darwin)
    import Foundation
    import PrefsPropertyLists

    extension stat {
        var times: (modified: FileStatus.Time, changed: FileStatus.Time) {
            (
                FileStatus.Time(seconds: Int64(st_mtimespec.tv_sec), nanoseconds: st_mtimespec.tv_nsec),
                FileStatus.Time(seconds: Int64(st_ctimespec.tv_sec), nanoseconds: st_ctimespec.tv_nsec)
            )
        }
    }
#endif
