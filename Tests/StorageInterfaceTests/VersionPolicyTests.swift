import StorageInterface
import Testing

/// When what old versions keep is too much.
struct VersionPolicyTests {
  @Test func theBoundOfBytesIsOnByDefaultAndGrowsWithTheData() {
    let policy = VersionPolicy()
    let gigabyte = 1 << 30
    #expect(policy.pressure(held: 0, live: 0) == .none)
    #expect(policy.pressure(held: gigabyte / 2 - 1, live: 4096) == .none)
    #expect(policy.pressure(held: gigabyte / 2, live: 4096) == .high)
    #expect(policy.pressure(held: gigabyte + 1, live: 4096) == .full)
    #expect(policy.pressure(held: gigabyte, live: 10 * gigabyte) == .none)
    #expect(policy.pressure(held: 10 * gigabyte + 1, live: 10 * gigabyte) == .full)
  }

  @Test func withoutABoundNothingIsTooMuch() {
    #expect(VersionPolicy(maximumBytes: nil).pressure(held: .max, live: 0) == .none)
    #expect(VersionPolicy(maximumBytes: 0).pressure(held: 2, live: 0) == .full)
    #expect(VersionPolicy.Pressure.none < .high && VersionPolicy.Pressure.high < .full)
  }
}
