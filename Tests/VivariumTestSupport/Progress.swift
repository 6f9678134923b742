/// Tells how far a long run of a random test has come: twenty lines for a run of many, none for the usual few.
public struct Progress {
  private let name: String
  private let total: Int
  private let step: Int
  private var done = 0

  public init(_ name: String, of total: Int) {
    self.name = name
    self.total = total
    step = total < 20_000 ? .max : total / 20
  }

  public mutating func advance() {
    done += 1
    if done % step == 0 { print("\(name): \(done) of \(total)") }
  }
}
