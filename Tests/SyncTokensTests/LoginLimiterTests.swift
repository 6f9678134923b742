#if Sync
@testable import SyncTokens
import Testing

@Suite("The limit of tries to log in")
struct LoginLimiterTests {
  @Test("refuses nobody who is new, however many there are, and forgets none of those who have to wait")
  func full() {
    var limiter = LoginLimiter(tries: 5)
    func begin(_ key: String, _ now: Int64) -> UInt64? { limiter.begin([key], at: now) }
    for number in 0..<5 { _ = begin("ann", Int64(number)) }
    var refused = 0
    for number in 0..<30_000 where begin("address \(number)", 10) != nil { refused += 1 }
    #expect(refused == 0)
    #expect(limiter.count <= 10_001)
    let wait = begin("ann", 20)
    #expect(wait == 60)
    let later = begin("ann", 60_020)
    #expect(later == nil)
  }

  @Test("forgets first what was tried longest ago")
  func oldest() {
    var limiter = LoginLimiter(tries: 2)
    func begin(_ key: String, _ now: Int64) -> UInt64? { limiter.begin([key], at: now) }
    _ = begin("old", 0)
    for number in 0..<9_999 { _ = begin("address \(number)", 1) }
    _ = begin("new", 2)
    // Of the one, the first attempt is forgotten; that of the other counts.
    let old = [begin("old", 3), begin("old", 3), begin("old", 3)]
    #expect(old.map { $0 == nil } == [true, true, false])
    let new = [begin("new", 3), begin("new", 3)]
    #expect(new.map { $0 == nil } == [true, false])
  }
}
#endif
