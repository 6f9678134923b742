import StorageInterface
import StorageReference
import StoreValues
import VivariumTestSupport

/// A random history, played to an engine and to the plain one side by side: both must show the same at every
/// step. The seed decides everything.
public final class ModelRun {
  let subject: ConformanceSubject
  var random: SeededGenerator
  let backend: any StorageBackend
  let plainBackend = ReferenceBackend()
  var engine: any StorageEngine
  var plain: ReferenceEngine
  /// Snapshots of one version on both sides.
  var readers: [(real: any ReadTransaction, plain: any ReadTransaction)] = []
  var schema = ModelSchema.start
  /// The highest key that was given out in each table: ever, in the open write, and in writes that were committed.
  var highestKeys: [TableID: Int64] = [:]
  var writeKeys: [TableID: Int64] = [:]
  var committedKeys: [TableID: Int64] = [:]
  /// How many steps were played.
  public private(set) var steps = 0
  /// How often each kind of step was played, to see that none is missing.
  public private(set) var played: [String: Int] = [:]
  private var log: [String] = []
  private let start: UInt64

  /// A run of random steps against the subject and the reference engine. The same seed plays the same steps.
  ///
  /// - Throws: What opening either engine throws.
  public init(_ subject: ConformanceSubject, seed: UInt64) throws {
    self.subject = subject
    start = seed
    random = SeededGenerator(seed: seed)
    backend = try subject.makeBackend()
    engine = try backend.open(OpenOptions(historyLimit: 50))
    guard let plain = try plainBackend.open(OpenOptions(historyLimit: 50)) as? ReferenceEngine else {
      throw ConformanceFailure("the reference backend opened another engine")
    }
    self.plain = plain
    try adopt(Schema(schema.objects))
  }

  /// Plays so many steps. Throws what differs, with the seed and the last steps.
  public func play(_ count: Int) throws {
    do {
      while steps < count { try turn() }
      for position in readers.indices { try compareReader(position) }
      endReaders()
      engine.close()
      plain.close()
    } catch {
      throw ConformanceFailure(
        "seed \(start), step \(steps): \(error)\nlast steps:\n  " + log.suffix(40).joined(separator: "\n  "))
    }
  }

  func note(_ kind: String, _ details: @autoclosure () -> String = "") {
    steps += 1
    played[kind, default: 0] += 1
    log.append("\(kind) \(details())")
    if log.count > 200 { log.removeFirst(100) }
  }

  private func turn() throws {
    switch random.below(14) {
    case 0: try takeReader()
    case 1: if !readers.isEmpty { try compareReader(random.below(readers.count)) }
    case 2: if readers.count > 5 || random.oneIn(2) { try endReader() }
    case 3: if random.oneIn(12) { try reopen() }
    case 4: try compareHistory()
    default: try writeOnce()
    }
  }

  func adopt(_ schema: Schema) throws {
    try write { pair in
      let catalog = try pair.plain.catalog.adopting(schema).catalog
      try pair.both { try $0.setCatalog(catalog) }
    }
  }
}

/// The two writes that are played to.
struct ModelPair {
  let real: any WriteTransaction
  let plain: any WriteTransaction

  /// Does the same on both sides and compares what comes out, errors included. Nil when both threw.
  @discardableResult
  func both<T: Equatable>(_ body: (any WriteTransaction) throws -> T) throws -> T? {
    let (a, b) = (try ModelOutcome { try body(real) }, try ModelOutcome { try body(plain) })
    try expect(a == b, "the engine gave \(a), the plain one \(b)")
    return b.value
  }
}

/// What a call gave: a value, or an error's code, scope, index and key.
struct ModelOutcome<T: Equatable>: Equatable {
  var value: T?
  var code: String?
  var scope: StorageError.Scope?
  var index: IndexID?
  var key: ObjectKey?

  init(_ body: () throws -> T) throws {
    do { value = try body() } catch let error as StorageError {
      code = error.code.rawValue
      scope = error.scope
      index = error.index
      key = error.conflictingKey
    }
  }
}

/// A value for calls that give none.
struct Nothing: Equatable {}

extension ModelPair {
  /// As `both` for calls that give nothing. Whether they succeeded.
  @discardableResult
  func both(_ body: (any WriteTransaction) throws -> Void) throws -> Bool {
    try both { write -> Nothing in
      try body(write)
      return Nothing()
    } != nil
  }
}
