#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

extension Store {
  /// The id of this process in the list of held versions. Not cached: a fork has another.
  static var processID: Int32 { getpid() }
}
