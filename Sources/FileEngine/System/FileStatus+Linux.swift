#if os(Linux) || os(Android)
    import Foundation

    extension stat {
        var times: (modified: FileStatus.Time, changed: FileStatus.Time) {
            (
                FileStatus.Time(seconds: Int64(st_mtim.tv_sec), nanoseconds: st_mtim.tv_nsec),
                FileStatus.Time(seconds: Int64(st_ctim.tv_sec), nanoseconds: st_ctim.tv_nsec)
            )
        }
    }
#endif
