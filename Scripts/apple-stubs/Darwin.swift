// What the package uses of the C library where Apple's differs from the one of Linux: types, which shadow those of Glibc, and
// the functions that take them. Each comment names the header of the macOS SDK, or the file of the Swift overlay "Platform",
// that the signature follows. Compiled as a part of each module.

import Foundation

// MARK: - Numbers: sys/_types.h, i386/_types.h and arm/_types.h

package typealias mode_t = UInt16
package typealias nlink_t = UInt16
package typealias dev_t = Int32
package typealias ino_t = UInt64
package typealias off_t = Int64
package typealias blksize_t = Int32
package typealias blkcnt_t = Int64
package typealias nfds_t = UInt32
package typealias tcflag_t = UInt
package typealias sigset_t = UInt32
/// sys/_pthread/_pthread_key_t.h
public typealias pthread_key_t = UInt

// MARK: - Times: sys/_types/_timespec.h

struct timespec {
    var tv_sec = 0
    var tv_nsec = 0
}

// MARK: - Files: sys/stat.h, sys/fcntl.h, dirent.h

struct stat {
    var st_dev: dev_t = 0
    var st_mode: mode_t = 0
    var st_nlink: nlink_t = 0
    var st_ino: ino_t = 0
    var st_uid: uid_t = 0
    var st_gid: gid_t = 0
    var st_rdev: dev_t = 0
    var st_atimespec = timespec()
    var st_mtimespec = timespec()
    var st_ctimespec = timespec()
    var st_birthtimespec = timespec()
    var st_size: off_t = 0
    var st_blocks: blkcnt_t = 0
    var st_blksize: blksize_t = 0
}

func fstat(_ descriptor: Int32, _ status: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
func lstat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
func fstatat(
    _ folder: Int32, _ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!, _ flags: Int32
) -> Int32 { fatalError() }

// Platform.swift
var S_IFMT: mode_t { 0o170000 }
var S_IFIFO: mode_t { 0o010000 }
var S_IFCHR: mode_t { 0o020000 }
var S_IFDIR: mode_t { 0o040000 }
var S_IFBLK: mode_t { 0o060000 }
var S_IFREG: mode_t { 0o100000 }
var S_IFLNK: mode_t { 0o120000 }
var S_IFSOCK: mode_t { 0o140000 }

func utimensat(
    _ folder: Int32, _ path: UnsafePointer<CChar>!, _ times: UnsafePointer<timespec>!, _ flags: Int32
) -> Int32 { fatalError() }
func chmod(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { fatalError() }
func fchmod(_ descriptor: Int32, _ mode: mode_t) -> Int32 { fatalError() }
func fchmodat(_ folder: Int32, _ path: UnsafePointer<CChar>!, _ mode: mode_t, _ flags: Int32) -> Int32 { fatalError() }
func mkdirat(_ folder: Int32, _ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { fatalError() }
func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer!, _ count: Int, _ offset: off_t) -> Int { fatalError() }
func ftruncate(_ descriptor: Int32, _ size: off_t) -> Int32 { fatalError() }

// Platform.swift
func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { fatalError() }
func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { fatalError() }
func openat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { fatalError() }
func openat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { fatalError() }

/// A struct there; here an opaque pointer.
struct DIR {}
// A function that differs in its result alone would be ambiguous.
let fdopendir: @Sendable (Int32) -> UnsafeMutablePointer<DIR>? = { _ in nil }
func readdir(_ folder: UnsafeMutablePointer<DIR>!) -> UnsafeMutablePointer<dirent>! { fatalError() }
@discardableResult func closedir(_ folder: UnsafeMutablePointer<DIR>!) -> Int32 { fatalError() }

// sys/fcntl.h
let O_EVTONLY: Int32 = 0x8000
let F_FULLFSYNC: Int32 = 51
let F_GETPROTECTIONCLASS: Int32 = 63
let F_SETPROTECTIONCLASS: Int32 = 64
/// From macOS 11 and iOS 14 on.
let O_NOFOLLOW_ANY: Int32 = 0x2000_0000

// sys/acl.h
struct acl_type_t {}
let ACL_TYPE_EXTENDED = acl_type_t()
func acl_get_fd_np(_ descriptor: Int32, _ type: acl_type_t) -> OpaquePointer! { fatalError() }
func acl_set_fd_np(_ descriptor: Int32, _ list: OpaquePointer!, _ type: acl_type_t) -> Int32 { fatalError() }
func acl_init(_ count: Int32) -> OpaquePointer! { fatalError() }
@discardableResult func acl_free(_ list: UnsafeMutableRawPointer!) -> Int32 { fatalError() }

// copyfile.h
package typealias copyfile_flags_t = UInt32
let COPYFILE_XATTR: Int32 = 4
func fcopyfile(_ from: Int32, _ to: Int32, _ state: OpaquePointer?, _ flags: copyfile_flags_t) -> Int32 { fatalError() }

// MARK: - Time: time.h, where the clocks are an enumeration

struct clockid_t: RawRepresentable {
    let rawValue: UInt32
}
let CLOCK_REALTIME = clockid_t(rawValue: 0)
let CLOCK_MONOTONIC = clockid_t(rawValue: 6)
@discardableResult func clock_gettime(_ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>!) -> Int32 { fatalError() }

// MARK: - Threads: pthread.h, sys/_pthread/_pthread_t.h

struct _opaque_pthread_t {}
typealias pthread_t = UnsafeMutablePointer<_opaque_pthread_t>
let pthread_self: @Sendable () -> pthread_t = { fatalError() }
func pthread_equal(_ left: pthread_t?, _ right: pthread_t?) -> Int32 { fatalError() }
@discardableResult func pthread_create(
    _ thread: UnsafeMutablePointer<pthread_t?>, _ attributes: UnsafePointer<pthread_attr_t>?,
    _ start: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _ argument: UnsafeMutableRawPointer?
) -> Int32 { fatalError() }
@discardableResult func pthread_detach(_ thread: pthread_t) -> Int32 { fatalError() }
@discardableResult func pthread_join(
    _ thread: pthread_t, _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 { fatalError() }
@discardableResult func pthread_key_create(
    _ key: UnsafeMutablePointer<pthread_key_t>, _ end: (@convention(c) (UnsafeMutableRawPointer) -> Void)?
) -> Int32 { fatalError() }
public func pthread_getspecific(_ key: pthread_key_t) -> UnsafeMutableRawPointer? { fatalError() }
@discardableResult public func pthread_setspecific(_ key: pthread_key_t, _ value: UnsafeRawPointer?) -> Int32 { fatalError() }

// MARK: - Terminals: sys/termios.h, sys/ioctl.h

struct termios {
    var c_iflag: tcflag_t = 0
    var c_oflag: tcflag_t = 0
    var c_cflag: tcflag_t = 0
    var c_lflag: tcflag_t = 0
    var c_cc: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
}
let ISIG: Int32 = 0x80
@discardableResult func tcgetattr(_ descriptor: Int32, _ modes: UnsafeMutablePointer<termios>!) -> Int32 { fatalError() }
@discardableResult func tcsetattr(
    _ descriptor: Int32, _ action: Int32, _ modes: UnsafePointer<termios>!
) -> Int32 { fatalError() }
func cfmakeraw(_ modes: UnsafeMutablePointer<termios>!) {}
// TiocConstants.swift
var TIOCGWINSZ: UInt { 0x4008_7468 }
var TIOCSWINSZ: UInt { 0x8008_7467 }
// `1` is of either type.
@_disfavoredOverload func poll(_ descriptors: UnsafeMutablePointer<pollfd>!, _ count: nfds_t, _ milliseconds: Int32) -> Int32 { fatalError() }

// MARK: - Processes: spawn.h, sys/spawn.h, signal.h

package typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
package typealias posix_spawnattr_t = UnsafeMutableRawPointer
let POSIX_SPAWN_SETSIGDEF: Int32 = 0x04
let POSIX_SPAWN_SETSIGMASK: Int32 = 0x08
let POSIX_SPAWN_SETSID: Int32 = 0x0400
let POSIX_SPAWN_CLOEXEC_DEFAULT: Int32 = 0x4000

package typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t?>
package typealias Attributes = UnsafeMutablePointer<posix_spawnattr_t?>
// Without a call, a function would be ambiguous.
let posix_spawn_file_actions_init: @Sendable (Actions?) -> Int32 = { _ in 0 }
@discardableResult func posix_spawn_file_actions_destroy(_ actions: Actions!) -> Int32 { fatalError() }
@discardableResult func posix_spawn_file_actions_adddup2(_ actions: Actions!, _: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult func posix_spawn_file_actions_addopen(
    _ actions: Actions!, _: Int32, _: UnsafePointer<CChar>!, _: Int32, _: mode_t
) -> Int32 { fatalError() }
let posix_spawnattr_init: @Sendable (Attributes?) -> Int32 = { _ in 0 }
@discardableResult func posix_spawnattr_destroy(_ attributes: Attributes!) -> Int32 { fatalError() }
@discardableResult func posix_spawnattr_setflags(_ attributes: Attributes!, _: Int16) -> Int32 { fatalError() }
@discardableResult func posix_spawnattr_setsigmask(_ attributes: Attributes!, _: UnsafePointer<sigset_t>!) -> Int32 {
    fatalError()
}
@discardableResult func posix_spawnattr_setsigdefault(_ attributes: Attributes!, _: UnsafePointer<sigset_t>!) -> Int32 {
    fatalError()
}
func posix_spawn(
    _ process: UnsafeMutablePointer<pid_t>!, _ path: UnsafePointer<CChar>!, _ actions: UnsafePointer<Actions.Pointee>!,
    _ attributes: UnsafePointer<Attributes.Pointee>!, _ words: UnsafePointer<UnsafeMutablePointer<CChar>?>!,
    _ variables: UnsafePointer<UnsafeMutablePointer<CChar>?>!
) -> Int32 { fatalError() }
@discardableResult func sigemptyset(_ signals: UnsafeMutablePointer<sigset_t>!) -> Int32 { fatalError() }
@discardableResult func sigaddset(_ signals: UnsafeMutablePointer<sigset_t>!, _ number: Int32) -> Int32 { fatalError() }
@discardableResult func sigfillset(_ signals: UnsafeMutablePointer<sigset_t>!) -> Int32 { fatalError() }
