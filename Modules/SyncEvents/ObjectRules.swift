import QueryEngine
import QueryModel
import StoreValues
import SyncModel
import SyncProtocol
import SyncServer
import Vivarium

/// Rules for who may write which objects of a server's stores, as queries over the object and the user.
///
/// ```swift
/// var rules = try ObjectRules(models: Order.self, Customer.self)
/// try rules.require(Order.self, in: "/*/orders", "An order is changed by who has made it.") { order, user in order.owner == user }
/// try rules.require(Customer.self, in: "/shared/*", "Nobody is renamed by others.", format: "isLocked == NO OR login == $USER")
/// let host = SyncHost(stores: stores, access: access, rules: rules.judge)
/// ```
///
/// Each object that a transaction of a user changes must meet the condition before and after it; one that it creates after it, and one
/// that it deletes before it. So nobody takes another's object. If several
/// conditions are required of a type in a store, all of them must hold. The first object that does not meet one refuses the whole
/// transaction, which is undone on its device with the reason (`SyncErrorCode.writeDenied`); types without a condition are free.
///
/// "Before" is what the server has when the transaction arrives, whatever its author had seen. A condition reads the object's own
/// properties and its embedded objects, and no links: what they lead to is not part of the transaction. What nobody has written is null,
/// or zero in a property that has no null.
///
/// **Threads.** A value; `judge` may be called from any. **Cost.** Rows in memory for each object of the transaction whose type has a
/// condition, within the store's commit; nothing for others. One object is judged at a time.
public struct ObjectRules: Sendable {
  private struct Rule: Sendable {
    let pattern: PathPattern
    let type: Name
    let reason: String
    let condition: @Sendable (String) -> PredicateNode
  }

  private let trial: ObjectTrial
  private var rules: [Rule] = []

  /// Creates rules that allow everything.
  ///
  /// - Parameter models: the types that conditions are about, and those that they link to or embed.
  /// - Throws: `ObjectRuleError` if the types make no store.
  public init(models: any SchemaDescribing.Type...) throws(ObjectRuleError) { trial = try ObjectTrial(models) }

  /// Requires a condition of all objects of a type that users write.
  ///
  /// - Parameters:
  ///   - pattern: the stores: "/shared/shop", "/*/orders", "/shared/*" (`PathPattern`).
  ///   - reason: for the user whose transaction is refused.
  ///   - condition: of the object and the user who writes. Called for each transaction.
  public mutating func require<T: Model>(
    _ type: T.Type, in pattern: String, _ reason: String, where condition: @escaping @Sendable (Field<T>, String) -> Condition
  ) throws(ObjectRuleError) {
    try add(T._$name, pattern, reason) { user in PredicateNode { (object: Field<T>) in condition(object, user) } }
  }

  /// Requires a condition in the query language of all objects of a type that users write; `$USER` in it is the user.
  public mutating func require<T: Model>(
    _ type: T.Type, in pattern: String, _ reason: String, format: String
  ) throws(ObjectRuleError) {
    let condition: PredicateNode
    do throws(QueryError) { condition = try PredicateNode(parsing: format) } catch { throw .condition(T._$name, "\(error)") }
    try add(T._$name, pattern, reason) { user in condition.substituting(["USER": .string(user)]) }
  }

  private mutating func add(
    _ type: String, _ text: String, _ reason: String, _ condition: @escaping @Sendable (String) -> PredicateNode
  ) throws(ObjectRuleError) {
    guard let pattern = PathPattern(text) else { throw .pattern(text) }
    try trial.check(condition("user"), of: type)
    rules.append(Rule(pattern: pattern, type: Name(type), reason: reason, condition: condition))
  }

  /// Judges a transaction: for `SyncHost(rules:)`.
  public var judge: WriteRules { { path, transaction in verdict(on: transaction, in: path) } }

  private func verdict(on transaction: UploadCase, in path: StorePath) -> Verdict? {
    let here = rules.filter { $0.pattern.matches(path) }
    if here.isEmpty { return nil }
    let types = Set(here.map(\.type))
    let objects = transaction.objects.filter { types.contains($0.className) }
    if objects.isEmpty { return nil }
    let conditions = here.map { (type: $0.type, condition: $0.condition(transaction.user)) }
    do {
      // Each time is a trial of its own: the one says nothing of the other.
      for read in [transaction.before, transaction.after] {
        var states: [ObjectIdentity: ObjectState] = [:]
        for object in objects { states[object] = read(object) }
        if states.isEmpty { continue }
        let failed = try trial.firstFailure(of: objects, states, conditions)
        if let failed { return Verdict(.writeDenied, here[failed].reason) }
      }
      return nil
    } catch {
      return Verdict(.invalidChange, "What was written cannot be judged: \(error)")
    }
  }
}

/// Why a condition cannot be required.
public struct ObjectRuleError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public let message: String
  /// What helps.
  public let remedy: String
  public var description: String { "\(message) \(remedy)" }

  static func pattern(_ text: String) -> ObjectRuleError {
    let fault = ServerEventError.pattern(text)
    return ObjectRuleError(message: fault.message, remedy: fault.remedy)
  }

  static func models(_ why: String) -> ObjectRuleError {
    ObjectRuleError(message: "The models make no store: \(why)", remedy: "Give 'ObjectRules' every type that one of them links to.")
  }

  static func condition(_ type: String, _ why: String) -> ObjectRuleError {
    ObjectRuleError(message: "The condition for '\(type)' is none: \(why)", remedy: "Write one over its own properties, and '$USER'.")
  }

  static func reach(_ type: String, _ path: String) -> ObjectRuleError {
    ObjectRuleError(
      message: "The condition for '\(type)' reads '\(path)', which is not in the object itself.",
      remedy: "Judge by the object's own stored properties and its embedded objects; copy into one what decides.")
  }
}
