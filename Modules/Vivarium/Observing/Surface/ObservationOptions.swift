import Notifications
import StoreValues

/// What an observer wants to hear, and how often. One value for everything that can be observed.
///
/// ```swift
/// let options = ObservationOptions(properties: ["name", "dogs.name"], throttle: .milliseconds(250), includingOldValues: true)
/// token = people.observe(options: options) { change in show(change) }
/// ```
///
/// Where an option has no meaning it does nothing: a list of numbers has no links to follow, and a sum is what it is of.
public struct ObservationOptions: Sendable {
  /// The properties whose modification counts, by names joined by dots over links, lists and inverses; `*` is every property at its
  /// place. nil: all. Deletions, insertions and moves are always reported.
  public var properties: [String]? {
    didSet { fault = nil }
  }
  /// Properties whose modification does not count, by name, nor what lies behind them.
  public var ignored: [String]
  /// Over how many links modifications are followed where no properties are named; nil: three from the rows of a collection, and
  /// none from an object. Of more than a thousand ways the shortest are followed.
  public var linkDepth: Int?
  /// How long the observer rests after each call at least; nil: not at all. What happens meanwhile comes as one change, and nothing is
  /// lost. The first call comes at once, and `refresh()` and the beginning of a write do not wait.
  public var throttle: Duration?
  /// Whether `change.details` has deleted and modified objects as they were. The store then keeps one older version in the file
  /// between a commit and the call that reports it. Of results of all kinds but tested ones, and of inverses; elements of lists have no
  /// identity by which they would be found, and observers of objects and numbers have old values in any case.
  public var includesOldValues: Bool
  /// Why what was named by key paths cannot be followed.
  private(set) var fault: StoreError?

  /// Everything, at once: what an observer hears that asks for nothing else.
  public init(
    properties: [String]? = nil, ignoring: [String] = [], linkDepth: Int? = nil, throttle: Duration? = nil,
    includingOldValues: Bool = false
  ) {
    self.properties = properties
    ignored = ignoring
    self.linkDepth = linkDepth
    self.throttle = throttle
    includesOldValues = includingOldValues
  }

  /// The same with properties by key path: `ObservationOptions(keyPaths: [\Dog.name])`. A path that is no persisted property of the
  /// object itself is reported as `.error`; over links they are named.
  public init<Root>(
    keyPaths: [PartialKeyPath<Root>], throttle: Duration? = nil, includingOldValues: Bool = false
  ) {
    self.init(properties: [], throttle: throttle, includingOldValues: includingOldValues)
    do throws(StoreError) {
      var names: [String] = []
      for path in keyPaths {
        guard let name = (Root.self as? any Model.Type)?.propertyName(of: path) else { throw .notAProperty(path, "\(Root.self)") }
        names.append(name)
      }
      properties = names
    } catch {
      fault = error
    }
  }

  /// What was asked for cannot be followed.
  mutating func refuse(_ error: StoreError) { fault = fault ?? error }
}

extension ObservedProperties {
  /// Which modifications count under some options. `.unknownProperty` for what leads nowhere.
  func filter(_ options: ObservationOptions) throws(StoreError) -> ResultFilter {
    if let fault = options.fault { throw fault }
    let filter = try options.properties.map { names throws(StoreError) in try only(names) }
    let depth = options.linkDepth ?? ObservedProperties.defaultDepth
    return try ignoring(options.ignored, of: filter ?? everything(depth: depth))
  }
}
