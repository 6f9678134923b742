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
  /// This process, as the list of held versions names it. Asked each time: a fork has another.
  static var processID: Int32 { getpid() }
}
