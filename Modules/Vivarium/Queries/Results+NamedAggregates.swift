import StoreValues

extension Results {
  /// The sum of a property by its name, as `sum(of:)` but for any number type: `.int`, `.double` or `.decimal`. Throws
  /// `.unknownProperty`, `.typeMismatch`, `.overflow`.
  public func sum(ofProperty name: String) throws(StoreError) -> Value { try compute(.sum, name) }

  /// The mean of a property by its name; `.null` over nothing.
  public func average(ofProperty name: String) throws(StoreError) -> Value { try compute(.average, name) }

  /// The least value of a number or date by its name; `.null` over nothing.
  public func min(ofProperty name: String) throws(StoreError) -> Value { try compute(.least, name) }

  /// The greatest value of a number or date by its name; `.null` over nothing.
  public func max(ofProperty name: String) throws(StoreError) -> Value { try compute(.greatest, name) }

  private func compute(_ aggregate: Aggregate, _ name: String) throws(StoreError) -> Value {
    guard let ordinal = state.context.ordinal(named: name) else { throw .unknownProperty(name, of: Element._$name) }
    return try state.compute(aggregate, of: ordinal)
  }
}
