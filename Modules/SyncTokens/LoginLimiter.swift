#if Sync
/// How often somebody may try to log in: so many times a minute under one name, and from one address. A try that went well does not count.
struct LoginLimiter {
  /// Tries in a minute.
  let tries: Int
  private var times: [String: [Int64]] = [:]
  private static let minute: Int64 = 60_000
  /// What is remembered is bounded, whoever comes.
  private static let keys = 10_000

  init(tries: Int) { self.tries = tries }

  /// Counts a try; the seconds to wait where there were too many.
  ///
  /// - Parameter now: milliseconds since 1970.
  mutating func begin(_ keys: [String], at now: Int64) -> UInt64? {
    if times.count > LoginLimiter.keys { times = times.filter { $0.value.contains { $0 > now - LoginLimiter.minute } } }
    for key in keys {
      let recent = (times[key] ?? []).filter { $0 > now - LoginLimiter.minute && $0 <= now }
      times[key] = recent.isEmpty ? nil : recent
      guard recent.count >= tries || (times.count > LoginLimiter.keys && recent.isEmpty) else { continue }
      return UInt64(max(1, ((recent.first ?? now) + LoginLimiter.minute - now + 999) / 1000))
    }
    for key in keys { times[key, default: []].append(now) }
    return nil
  }

  /// The try of a time went well.
  mutating func succeed(_ keys: [String], at now: Int64) {
    for key in keys {
      guard let index = times[key]?.firstIndex(of: now) else { continue }
      times[key]?.remove(at: index)
      if times[key]?.isEmpty == true { times[key] = nil }
    }
  }
}
#endif
