import StorageInterface

/// One observation as its store keeps it, whatever it is of: whether it goes on, when it may be called next, and whether all it has to hear
/// is an error. Confined to the store's context.
///
/// Why there are two kinds is in decision 47: results are asked in every turn, watches of objects only where something was touched.
class Observer {
  /// Whether its token goes on.
  let flag: StopFlag
  /// How it rests after each call.
  var rest: ObserverRest
  /// Whether it was notified of anything.
  private(set) var wasNotified = false
  /// What it is notified of instead of everything else.
  var fault: StoreError?

  init(_ flag: StopFlag, throttle: Duration? = nil, fault: StoreError?) {
    self.flag = flag
    rest = ObserverRest(throttle)
    self.fault = fault
  }

  final var isActive: Bool { flag.isActive }

  /// It is about to be notified.
  final func willBeNotified() {
    wasNotified = true
    rest.begin()
  }
}
