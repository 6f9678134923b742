import Foundation

/// Forks: 0 in the copy, which has the calling thread alone, may do little and ends by `_exit`; in this process the copy's
/// number, below 0 where there is none.
///
/// Swift hides the call, and rightly. For tests of what a store does in such a copy, in a process of their own.
public func forkedProcess() -> pid_t {
  typealias Fork = @convention(c) () -> pid_t
  guard let symbol = dlsym(nil, "fork") else { return -1 }
  return unsafeBitCast(symbol, to: Fork.self)()
}
