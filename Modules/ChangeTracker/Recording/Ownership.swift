import StorageInterface
import StoreValues

/// A relationship of a catalog, with both its ends.
struct Relationship: Hashable {
  let column: ColumnID
  let target: TableID
  let isList: Bool
}

/// The delete rules of a catalog, by table. Made once per catalog; empty for most.
final class Ownership: Sendable {
  /// By the owner's table: the relationships that own their targets, and those that deny a delete.
  let owning: [TableID: [Relationship]]
  let denying: [TableID: [Relationship]]
  /// By the owned table.
  let owners: [TableID: [Relationship]]
  /// The owning columns, for a fast lookup by every edit.
  let columns: [ColumnID: Relationship]
  /// No relationship owns anything.
  let isEmpty: Bool

  /// - Parameter isEmbeddingAlone: ignores declared delete rules; embedded objects are still deleted with their owner.
  init(_ catalog: Catalog, isEmbeddingAlone: Bool = false) {
    var owning: [TableID: [Relationship]] = [:]
    var denying: [TableID: [Relationship]] = [:]
    var owners: [TableID: [Relationship]] = [:]
    var columns: [ColumnID: Relationship] = [:]
    for table in catalog.tables {
      for column in table.columns {
        guard column.schema.isRelationship, column.schema.isStored, let entry = column.schema.target.flatMap({ catalog[$0] })
        else { continue }
        // Embedded objects are owned, whatever the property declares.
        let declared = isEmbeddingAlone ? .nullify : column.schema.deleteRule ?? .nullify
        let rule = entry.isEmbedded ? .cascade : declared
        if rule == .nullify { continue }
        let target = entry.id
        let relationship = Relationship(column: table.column(column.id), target: target, isList: !column.schema.isScalar)
        if rule == .deny {
          denying[table.id, default: []].append(relationship)
        } else {
          owning[table.id, default: []].append(relationship)
          owners[target, default: []].append(relationship)
          columns[relationship.column] = relationship
        }
      }
    }
    (self.owning, self.denying, self.owners, self.columns) = (owning, denying, owners, columns)
    isEmpty = columns.isEmpty
  }
}

/// An object of any table.
package struct ObjectPlace: Hashable, Sendable {
  package let table: TableID
  package let key: Int64

  package init(table: TableID, key: Int64) {
    self.table = table
    self.key = key
  }
}
