#if Sync
/// Limits log-in attempts per minute, under one name and from one address. A successful attempt does not count.
struct LoginLimiter {
  /// The maximal number of attempts in a minute.
  let tries: Int
  private var times: [String: [Int64]] = [:]
  private static let minute: Int64 = 60_000
  /// Bounds the memory, however many clients come.
  private static let keys = 10_000

  init(tries: Int) { self.tries = tries }

  /// The number of names and addresses that are counted.
  var count: Int { times.count }

  /// Counts an attempt; returns the seconds to wait if there were too many.
  ///
  /// - Parameter now: milliseconds since 1970.
  mutating func begin(_ keys: [String], at now: Int64) -> UInt64? {
    for key in keys {
      let recent = (times[key] ?? []).filter { $0 > now - LoginLimiter.minute && $0 <= now }
      times[key] = recent.isEmpty ? nil : recent
      guard recent.count >= tries else { continue }
      return UInt64(max(1, ((recent.first ?? now) + LoginLimiter.minute - now + 999) / 1000))
    }
    for key in keys { times[key, default: []].append(now) }
    makeRoom(at: now)
    return nil
  }

  /// Forgets the keys whose last attempt is longest ago, half of all at a time; those that have to wait go last. To refuse whoever is new
  /// would let a few clients lock everybody out.
  private mutating func makeRoom(at now: Int64) {
    guard times.count > LoginLimiter.keys else { return }
    times = times.filter { $0.value.contains { $0 > now - LoginLimiter.minute } }
    let surplus = times.count - LoginLimiter.keys / 2
    guard surplus > 0 else { return }
    let tries = tries
    func rank(_ attempts: [Int64]) -> (Int, Int64) { (attempts.count >= tries ? 1 : 0, attempts.last ?? 0) }
    for (key, _) in times.sorted(by: { rank($0.value) < rank($1.value) }).prefix(surplus) { times[key] = nil }
  }

  /// Removes a successful attempt.
  mutating func succeed(_ keys: [String], at now: Int64) {
    for key in keys {
      guard let index = times[key]?.firstIndex(of: now) else { continue }
      times[key]?.remove(at: index)
      if times[key]?.isEmpty == true { times[key] = nil }
    }
  }
}
#endif
