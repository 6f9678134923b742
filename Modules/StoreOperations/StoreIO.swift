import Vivarium

/// An operation on a store, as a value. It does nothing until it is run, can be run repeatedly and anywhere, and composes with
/// others into a single transaction.
///
/// ```swift
/// func add(dogNamed name: String) -> StoreRW<Dog> { Store.IO.add(Dog(name: name)) }
///
/// let both = add(dogNamed: "Taro").flatMap { _ in add(dogNamed: "Jiro") }
/// try store.run(io: both)          // two dogs, one transaction
/// ```
///
/// The first parameter says whether the operation writes; the compiler derives it for compositions: reading with reading reads,
/// anything with writing writes. The second is the result of a run. Live objects in a result belong to the store that ran the
/// operation.
///
/// Operations are `Sendable`, and so is what they capture: pass objects as `ObjectReference`s. Composition is not recursive: a
/// chain of a million steps needs no stack.
public struct StoreIO<RW: Access, T>: Sendable {
  let step: OperationStep
  /// Whether a run opens a transaction. For an `AnyStoreIO` this is known only at run time.
  public let mode: AccessMode

  init(_ step: OperationStep, _ mode: AccessMode) {
    self.step = step
    self.mode = mode
  }

  /// Whether a run opens no transaction.
  public var isReadOnly: Bool { mode == .readOnly }
  /// Whether a run opens a transaction.
  public var isReadWrite: Bool { mode == .readWrite }
}

/// An operation that reads.
public typealias StoreRO<T> = StoreIO<ReadOnly, T>
/// An operation that writes.
public typealias StoreRW<T> = StoreIO<ReadWrite, T>
/// An operation that may write. Combined with one that writes, it becomes a `StoreRW`; combined with one that reads, it stays an
/// `AnyStoreIO`.
public typealias AnyStoreIO<T> = StoreIO<AnyAccess, T>

// MARK: - Making one

extension StoreIO where RW == ReadOnly {
  /// A reading operation. A write in `body` fails when it runs: `.readOnlyOperation`.
  public init(_ body: @escaping @Sendable (Store) throws -> T) {
    self.init(OperationStep { store in try store.readOnly { StepResult(try body(store)) } }, .readOnly)
  }

  /// The store that runs the operation.
  public static var ask: StoreRO<Store> { StoreRO<Store> { $0 } }

  /// The same operation, run in a transaction.
  public var writeIO: StoreRW<T> { StoreRW(step, .readWrite) }
}

extension StoreIO where RW == ReadWrite {
  /// A writing operation: `body` runs inside a transaction.
  public init(_ body: @escaping @Sendable (Store) throws -> T) {
    self.init(OperationStep { store in StepResult(try body(store)) }, .readWrite)
  }
}

extension StoreIO where RW == AnyAccess {
  /// An operation that reads or writes, by `mode`.
  public init(_ mode: AccessMode, _ body: @escaping @Sendable (Store) throws -> T) {
    switch mode {
    case .readOnly: self.init(StoreRO(body))
    case .readWrite: self.init(StoreRW(body))
    }
  }

  /// Erases the access type, not the mode.
  public init(_ io: StoreIO<some Access, T>) { self.init(io.step, io.mode) }
}

extension StoreIO {
  /// Returns a value without using the store. Each run computes the value anew.
  public init(value: @autoclosure @escaping @Sendable () throws -> T) {
    self.init(OperationStep { _ in StepResult(try value()) }, RW.mode ?? .readOnly)
  }

  /// Fails with an error.
  public init(error: any Error) { self.init(OperationStep(.leaf { _ in throw error }), RW.mode ?? .readOnly) }
}
