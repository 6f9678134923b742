import Foundation

/// How many files this process, and those that it starts, may have open.
enum OpenFiles {
  /// The system allows fewer than a workload needs.
  struct TooFew: Error, CustomStringConvertible {
    let needed: Int
    let allowed: Int
    var description: String {
      "This workload needs \(needed) open files, and the system allows \(allowed): raise the hard limit ('ulimit -Hn'), or say --scale."
    }
  }

  /// Raises the limit to at least so many.
  static func allow(_ count: Int) throws {
    #if canImport(Darwin)
    let kind = RLIMIT_NOFILE
    #else
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
    var limit = rlimit()
    getrlimit(kind, &limit)
    guard limit.rlim_cur < rlim_t(count) else { return }
    limit.rlim_cur = rlim_t(count)
    guard limit.rlim_cur <= limit.rlim_max, setrlimit(kind, &limit) == 0 else {
      throw TooFew(needed: count, allowed: Int(clamping: limit.rlim_max))
    }
  }
}
