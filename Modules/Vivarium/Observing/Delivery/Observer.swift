import StorageInterface

/// One observation as its store keeps it, whatever its subject: whether it is active, when it may be called next, and whether an
/// error is all it has to report. Confined to the store's context.
///
/// Decision 47 explains the two kinds: results are asked in every turn, watches of objects only if something was touched.
class Observer {
  /// Whether its token is active.
  let flag: StopFlag
  /// Its rest after each call.
  var rest: ObserverRest
  /// Whether it was ever notified.
  private(set) var wasNotified = false
  /// An error that it is notified of instead of everything else.
  var fault: StoreError?

  init(_ flag: StopFlag, throttle: Duration? = nil, fault: StoreError?) {
    self.flag = flag
    rest = ObserverRest(throttle)
    self.fault = fault
  }

  final var isActive: Bool { flag.isActive }

  /// Call just before notifying it.
  final func willBeNotified() {
    wasNotified = true
    rest.begin()
  }
}
