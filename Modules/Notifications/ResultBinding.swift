import StorageInterface
import StoreValues

/// Properties of objects on which a question depends: with other values it is a different question.
package struct ResultBinding: Sendable, Hashable {
  /// One property of one object.
  package struct Place: Sendable, Hashable {
    package let column: ColumnID
    package let owner: ObjectKey

    package init(_ column: ColumnID, of owner: ObjectKey) {
      self.column = column
      self.owner = owner
    }
  }

  package let places: [Place]

  package init(_ places: [Place]) { self.places = places }

  /// The values in one version, in the order of the places; nil for a deleted object.
  package func values(in reading: any StorageReading) throws(StorageError) -> [Value?] {
    var values: [Value?] = []
    for place in places {
      do throws(StorageError) {
        values.append(try reading.value(place.column, place.owner))
      } catch {
        if error.code != .objectDeleted { throw error }
        values.append(nil)
      }
    }
    return values
  }

  /// Whether a commit may have changed one of them. Reads nothing.
  func isTouched(by record: CommitRecord) -> Bool {
    places.contains { place in
      guard let change = record.tables.first(where: { $0.table == place.column.table }) else { return false }
      if change.deleted.contains(place.owner.rawValue) || change.inserted.contains(place.owner.rawValue) { return true }
      return change.modified.contains { $0.key == place.owner && $0.properties.contains(place.column.property) }
    }
  }
}
