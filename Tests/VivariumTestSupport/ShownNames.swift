/// An actor that shows what an observer of it is told, and lets a test wait for that. One waiter.
public actor ShownNames {
  public private(set) var names: [String] = []
  private var waiter: CheckedContinuation<Void, Never>?

  public init() {}

  public func set(_ names: [String]) {
    self.names = names
    waiter?.resume()
    waiter = nil
  }

  /// Suspends until these are shown.
  public func wait(until names: [String]) async {
    while self.names != names { await withCheckedContinuation { waiter = $0 } }
  }
}
