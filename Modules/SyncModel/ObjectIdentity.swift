#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
public import StoreValues

/// Which object, on every replica. Objects of one class with the same primary key are one object, whoever creates them.
public struct ObjectIdentity: Hashable, Sendable {
  /// The name of the object's class.
  public let className: Name
  /// What tells it from the other objects of its class.
  public let key: Key

  /// The value of a primary key, or for a class without one what stands for it.
  public enum Key: Hashable, Sendable {
    case int(Int64)
    case string(Name)
    case uuid(UUID)
    case objectId(ObjectId)
    /// Of a class without primary key: who created it, and the key it has in the creator's file.
    case created(ReplicaID, ObjectKey)
  }

  /// The object of a class that has the key. Whether keys of this kind fit the class is for the schema to say.
  public init(_ className: Name, _ key: Key) {
    self.className = className
    self.key = key
  }

  /// Of the value of a primary key; nil for a value that no primary key has.
  public init?(_ className: Name, primaryKey: Value) {
    switch primaryKey {
    case .int(let x): self.init(className, .int(x))
    case .string(let x): self.init(className, .string(Name(x)))
    case .uuid(let x): self.init(className, .uuid(x))
    case .objectId(let x): self.init(className, .objectId(x))
    default: return nil
    }
  }

  /// The value of the primary key; nil for an object without one.
  public var primaryKey: Value? {
    switch key {
    case .int(let x): .int(x)
    case .string(let x): .string(x.text)
    case .uuid(let x): .uuid(x)
    case .objectId(let x): .objectId(x)
    case .created: nil
    }
  }
}

extension ObjectIdentity: Comparable {
  /// By class name, then by key.
  public static func < (a: Self, b: Self) -> Bool { a.className != b.className ? a.className < b.className : a.key < b.key }
}

extension ObjectIdentity.Key: Comparable {
  /// By kind in the order of the cases, then by value: texts by bytes, created objects by replica and key.
  public static func < (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.int(let x), .int(let y)): x < y
    case (.string(let x), .string(let y)): x < y
    case (.uuid(let x), .uuid(let y)): x < y
    case (.objectId(let x), .objectId(let y)): x < y
    case (.created(let r, let x), .created(let s, let y)): (r, x) < (s, y)
    default: a.rank < b.rank
    }
  }

  private var rank: Int {
    switch self {
    case .int: 0
    case .string: 1
    case .uuid: 2
    case .objectId: 3
    case .created: 4
    }
  }
}

extension ObjectIdentity: CustomStringConvertible {
  public var description: String {
    switch key {
    case .created(let replica, let key): "\(className)\(key)@\(replica)"
    default: "\(className)(\(primaryKey ?? .null))"
    }
  }
}

/// What a link points to: one incarnation of an object. The epoch is that of the object as the author of the link saw it,
/// so a link does not come back to life when an object with the same primary key is created after a delete.
public struct LinkTarget: Hashable, Sendable {
  /// Whom the link names, whatever the incarnation.
  public let object: ObjectIdentity
  /// The epoch of the incarnation that is meant; `.zero` if the author knew of no delete, or it was forgotten by then.
  public let epoch: Stamp

  /// A link to the incarnation of an object that has the epoch.
  public init(_ object: ObjectIdentity, epoch: Stamp = .zero) {
    self.object = object
    self.epoch = epoch
  }

  /// A link that leads nowhere for good. Its epoch is after all that can be: no incarnation has it.
  var severed: LinkTarget { LinkTarget(object, epoch: Stamp(time: .max, replica: ReplicaID(.max))) }
}
