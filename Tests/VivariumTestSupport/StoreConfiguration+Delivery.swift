import StorageInterface

extension StoreConfiguration {
  /// The same, whose observers hear inside `refresh()`: for tests that run in no actor's code and say themselves when a turn is.
  package var byHand: StoreConfiguration {
    var copy = self
    copy.manualDelivery = true
    return copy
  }
}
