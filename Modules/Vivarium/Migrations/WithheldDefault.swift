import StorageInterface
import StoreValues

/// Why objects that are in a file already do not get the declared default of a property by themselves.
enum WithheldDefault: Hashable {
  /// It has objects. Nobody but the program knows whether each is to have its own, or all the same.
  case objects
  /// It has elements, and the type is replicated: each replica would add them once more, or put them in place of what others wrote.
  case elementsInReplicas

  /// What is wrong with the property, and what helps. `count`: the objects.
  func message(_ count: Int) -> String {
    let need = "\(count.objects) \(count == 1 ? "needs" : "need")"
    return switch self {
    case .objects:
      "has a default with objects, and \(need) them: declare it without a default, or set it in a migration"
    case .elementsInReplicas:
      "has a default with elements, and \(need) them, in each replica once more: declare it without a default, and insert them into new "
        + "objects"
    }
  }
}

extension SchemaUpkeep {
  /// Why existing objects of a type do not get the default; nil if they do.
  func withheld(_ value: CopiedValue?, _ type: String, in catalog: Catalog) -> WithheldDefault? {
    switch value {
    case nil: return .objects
    case .scalar: return nil
    case .list(let elements): if elements.isEmpty { return nil }
    case .map(let map): if map.isEmpty { return nil }
    }
    return catalog.hasSideEntries && configuration.replicates(type) ? .elementsInReplicas : nil
  }
}
