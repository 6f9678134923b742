import StoreValues

extension Results {
  /// The sum of a property; 0 over nothing. Ignores null. Throws `.overflow` if the sum exceeds the property's type. Creates no
  /// objects.
  public func sum<V: Scalar & Numeric>(of path: KeyPath<Element, V>) throws(StoreError) -> V {
    try Results.sum(try compute(.sum, path), of: Element.propertyName(of: path))
  }

  /// The sum of an optional property.
  public func sum<V: Scalar & Numeric>(of path: KeyPath<Element, V?>) throws(StoreError) -> V {
    try Results.sum(try compute(.sum, path), of: Element.propertyName(of: path))
  }

  /// The sum of decimals, added exactly and rounded to 34 digits once; 0 over nothing. Ignores null; NaN makes it NaN. Reads each
  /// object.
  public func sum(of path: KeyPath<Element, Decimal128>) throws(StoreError) -> Decimal128 { try decimal(.sum, path) ?? 0 }

  /// The sum of an optional decimal property.
  public func sum(of path: KeyPath<Element, Decimal128?>) throws(StoreError) -> Decimal128 { try decimal(.sum, path) ?? 0 }

  /// The mean of decimals; nil over nothing.
  public func average(of path: KeyPath<Element, Decimal128>) throws(StoreError) -> Decimal128? { try decimal(.average, path) }

  /// The mean of optional decimals, ignoring null; nil over nothing.
  public func average(of path: KeyPath<Element, Decimal128?>) throws(StoreError) -> Decimal128? { try decimal(.average, path) }

  private func decimal(_ aggregate: Aggregate, _ path: AnyKeyPath) throws(StoreError) -> Decimal128? {
    guard case .decimal(let value) = try compute(aggregate, path) else { return nil }
    return value
  }

  /// Converts a sum to the property's type.
  static func sum<V: Scalar & Numeric>(_ total: Value, of name: String?) throws(StoreError) -> V {
    if let exact = V(persisted: total) { return exact }
    switch total {
    case .double(let real): if let real = V(persisted: .float(Float(real))) { return real }
    case .int(0): return 0
    default: break
    }
    throw StoreError(
      .overflow, "The sum \(total) of '\(Element._$name).\(name ?? "")' does not fit \(V.self).",
      remedy: "Use a wider type for the property.")
  }

  /// The mean of a property; nil over nothing.
  public func average<V: Scalar & Numeric>(of path: KeyPath<Element, V>) throws(StoreError) -> Double? {
    try mean(path)
  }

  /// The mean of an optional property, ignoring null; nil over nothing.
  public func average<V: Scalar & Numeric>(of path: KeyPath<Element, V?>) throws(StoreError) -> Double? {
    try mean(path)
  }

  /// The least value of a number or date; nil over nothing. Ignores null and NaN.
  public func min<V: Scalar & Comparable>(of path: KeyPath<Element, V>) throws(StoreError) -> V? {
    V(persisted: try compute(.least, path))
  }

  /// The least value of an optional property; nil over nothing. Ignores null and NaN.
  public func min<V: Scalar & Comparable>(of path: KeyPath<Element, V?>) throws(StoreError) -> V? {
    V(persisted: try compute(.least, path))
  }

  /// The greatest value of a number or date; nil over nothing. Ignores null and NaN.
  public func max<V: Scalar & Comparable>(of path: KeyPath<Element, V>) throws(StoreError) -> V? {
    V(persisted: try compute(.greatest, path))
  }

  /// The greatest value of an optional property; nil over nothing. Ignores null and NaN.
  public func max<V: Scalar & Comparable>(of path: KeyPath<Element, V?>) throws(StoreError) -> V? {
    V(persisted: try compute(.greatest, path))
  }
}

extension Results {
  private func compute(_ aggregate: Aggregate, _ path: AnyKeyPath) throws(StoreError) -> Value {
    guard let ordinal = Element.ordinal(of: path) else { throw .notAProperty(path, Element._$name) }
    return try state.compute(aggregate, of: ordinal)
  }

  private func mean(_ path: AnyKeyPath) throws(StoreError) -> Double? {
    guard case .double(let mean) = try compute(.average, path) else { return nil }
    return mean
  }
}
