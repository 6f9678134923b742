import Vivarium

/// Something to do with a store, as a value: it does nothing until it is run, can be run again and anywhere, and is
/// composed with others to one that is still a single transaction.
///
/// ```swift
/// func add(dogNamed name: String) -> StoreRW<Dog> { Store.IO.add(Dog(name: name)) }
///
/// let both = add(dogNamed: "Taro").flatMap { _ in add(dogNamed: "Jiro") }
/// try store.run(io: both)          // two dogs, one transaction
/// ```
///
/// The first parameter says whether it writes, and the compiler works it out for compositions: reading with reading reads,
/// anything with writing writes. The second is what a run gives. A run may give live objects; they belong to
/// the store it ran on.
///
/// Operations are `Sendable`: what they capture is too, so objects travel as `ObjectReference`s. Composition is not
/// recursive: a chain of a million steps needs no stack.
public struct StoreIO<RW: Access, T>: Sendable {
  let step: OperationStep
  /// Whether running this opens a transaction. Of an `AnyStoreIO` this is known at run time only.
  public let mode: AccessMode

  init(_ step: OperationStep, _ mode: AccessMode) {
    self.step = step
    self.mode = mode
  }

  /// Whether running this opens no transaction.
  public var isReadOnly: Bool { mode == .readOnly }
  /// Whether running this opens a transaction.
  public var isReadWrite: Bool { mode == .readWrite }
}

/// An operation that reads.
public typealias StoreRO<T> = StoreIO<ReadOnly, T>
/// An operation that writes.
public typealias StoreRW<T> = StoreIO<ReadWrite, T>
/// An operation that may write: with something that writes it becomes a `StoreRW`, with something that reads it
/// stays what it is.
public typealias AnyStoreIO<T> = StoreIO<AnyAccess, T>

// MARK: - Making one

extension StoreIO where RW == ReadOnly {
  /// Reads. A write in `body` is refused when it is run: `.readOnlyOperation`.
  public init(_ body: @escaping @Sendable (Store) throws -> T) {
    self.init(OperationStep { store in try store.readOnly { StepResult(try body(store)) } }, .readOnly)
  }

  /// The store that runs the operation.
  public static var ask: StoreRO<Store> { StoreRO<Store> { $0 } }

  /// The same, to be run in a transaction.
  public var writeIO: StoreRW<T> { StoreRW(step, .readWrite) }
}

extension StoreIO where RW == ReadWrite {
  /// Writes: runs inside a transaction.
  public init(_ body: @escaping @Sendable (Store) throws -> T) {
    self.init(OperationStep { store in StepResult(try body(store)) }, .readWrite)
  }
}

extension StoreIO where RW == AnyAccess {
  /// Reads or writes, as `mode` says.
  public init(_ mode: AccessMode, _ body: @escaping @Sendable (Store) throws -> T) {
    switch mode {
    case .readOnly: self.init(StoreRO(body))
    case .readWrite: self.init(StoreRW(body))
    }
  }

  /// Forgets the type of access, not the access.
  public init(_ io: StoreIO<some Access, T>) { self.init(io.step, io.mode) }
}

extension StoreIO {
  /// Gives a value and touches no store. The value is computed at each run.
  public init(value: @autoclosure @escaping @Sendable () throws -> T) {
    self.init(OperationStep { _ in StepResult(try value()) }, RW.mode ?? .readOnly)
  }

  /// Fails with an error.
  public init(error: any Error) { self.init(OperationStep(.leaf { _ in throw error }), RW.mode ?? .readOnly) }
}
