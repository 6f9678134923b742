import Vivarium

extension Store.IO {
  /// Reads in turn, on one version, and returns all results.
  public static func zip<each T>(_ operations: repeat StoreRO<each T>) -> StoreRO<(repeat each T)> {
    var steps: [OperationStep] = []
    for operation in repeat each operations { steps.append(operation.step) }
    return StoreRO(OperationStep.collect(steps).map { (cells: [AnyObject]) -> (repeat each T) in tuple(cells) }, .readOnly)
  }

  /// Runs several operations in turn, in one transaction, and returns all results.
  ///
  /// ```swift
  /// let (dogs, rex) = try store.run(io: Store.IO.zip(Store.IO.objects(Dog.self), Store.IO.add(Dog(name: "Rex"))))
  /// ```
  @_disfavoredOverload
  public static func zip<each RW: Access, each T>(
    _ operations: repeat StoreIO<each RW, each T>
  ) -> StoreRW<(repeat each T)> {
    var steps: [OperationStep] = []
    for operation in repeat each operations { steps.append(operation.step) }
    return StoreRW(OperationStep.collect(steps).map { (cells: [AnyObject]) -> (repeat each T) in tuple(cells) }, .readWrite)
  }

  /// Runs operations in turn, in one transaction or on one version, and returns their results in that order. Stops at the first
  /// failure.
  public static func sequence<RW: Access, T>(_ operations: some Sequence<StoreIO<RW, T>>) -> StoreIO<RW, [T]> {
    let all = Array(operations)
    let mode = RW.mode ?? (all.contains(where: \.isReadWrite) ? .readWrite : .readOnly)
    return StoreIO(OperationStep.collect(all.map(\.step)).map { (cells: [AnyObject]) in cells.map { StepResult<T>.value(of: $0) } }, mode)
  }

  /// Runs one operation for each element, like `sequence`.
  public static func traverse<RW: Access, Element, T>(
    _ elements: some Sequence<Element>, _ operation: (Element) throws -> StoreIO<RW, T>
  ) rethrows -> StoreIO<RW, [T]> {
    sequence(try elements.map(operation))
  }

  private static func tuple<each T>(_ cells: [AnyObject]) -> (repeat each T) {
    var rest = cells[...]
    return (repeat StepResult<each T>.value(ofFirst: &rest))
  }
}

extension StoreIO {
  /// Runs this operation, then another, and returns both results.
  public func zip<U>(_ other: StoreIO<RW, U>) -> StoreIO<RW, (T, U)> {
    let mode: AccessMode = isReadOnly && other.isReadOnly ? .readOnly : .readWrite
    return StoreIO<RW, (T, U)>(
      OperationStep.collect([step, other.step]).map { (cells: [AnyObject]) in
        (StepResult<T>.value(of: cells[0]), StepResult<U>.value(of: cells[1]))
      }, mode)
  }
}

extension StoreIO where RW == ReadOnly {
  /// Runs both, this one first, in one transaction.
  public func zip<U>(_ other: StoreRW<U>) -> StoreRW<(T, U)> { writeIO.zip(other) }
}

extension StoreIO where RW == ReadWrite {
  /// Runs both, this one first, in one transaction.
  public func zip<U>(_ other: StoreRO<U>) -> StoreRW<(T, U)> { zip(other.writeIO) }
}
