import StorageInterface
import StoreValues

/// The triggers that keep the file consistent when another program writes it. Our own connections run with triggers off and do
/// the same work themselves; any other program runs them, so its writes are counted and logged.
extension TableLayout {
  var triggers: [String: String] {
    let number = entry.id.rawValue
    let conflicts = self.conflicts
    var result = [
      // REPLACE deletes rows without running delete triggers; whether a row was deleted is determined when the log is read.
      trigger("replacing", "BEFORE INSERT ON \(name)"): """
        INSERT INTO _vivarium_foreign (type, key, change)
            SELECT \(number), _key, 'replaced' FROM \(name) WHERE \(conflicts);
        """,
      trigger("replacing others", "BEFORE UPDATE ON \(name)"): """
        INSERT INTO _vivarium_foreign (type, key, change)
            SELECT \(number), _key, 'replaced' FROM \(name) WHERE _key <> old._key AND (\(conflicts));
        """,
      trigger("inserted", "AFTER INSERT ON \(name)"): """
        INSERT INTO _vivarium_foreign (type, key, change) VALUES (\(number), new._key, 'inserted');
          UPDATE _vivarium_types SET objects = objects + 1, last_key = max(last_key, new._key) WHERE id = \(number);
        """,
      trigger("updated", "AFTER UPDATE ON \(name)"): """
        INSERT INTO _vivarium_foreign (type, key, change) SELECT \(number), old._key, 'deleted' WHERE old._key <> new._key;
          INSERT INTO _vivarium_foreign (type, key, change)
            SELECT \(number), new._key, CASE WHEN old._key = new._key THEN 'modified' ELSE 'inserted' END;
          UPDATE _vivarium_types SET last_key = max(last_key, new._key) WHERE id = \(number);
        """,
      trigger("deleted", "AFTER DELETE ON \(name)"): """
        INSERT INTO _vivarium_foreign (type, key, change) VALUES (\(number), old._key, 'deleted');
          UPDATE _vivarium_types SET objects = objects - 1 WHERE id = \(number);
        """,
    ]
    for list in collections {
      for (event, row) in [("INSERT", "new"), ("UPDATE", "new"), ("DELETE", "old")] {
        result[trigger("\(list.entry.schema.name) \(event.lowercased())", "AFTER \(event) ON \(list.name)")] = """
          INSERT INTO _vivarium_foreign (type, key, change, property)
            VALUES (\(number), \(row).owner, 'list', \(list.id.property.rawValue));
          """
      }
    }
    // Names that differ only in NUL are the same here.
    return Dictionary(
      result.map { head, body in (head.name, "CREATE TRIGGER \(head.name) \(head.event)\nBEGIN\n  \(body)\nEND") }
    ) { first, second in min(first, second) }
  }

  /// The condition for rows that conflict with the new one.
  private var conflicts: String {
    let unique = indexes.filter(\.entry.isUnique).map { index in
      "(" + index.columns.map { "\($0.name) = new.\($0.name)" }.joined(separator: " AND ") + ")"
    }
    return (["_key = new._key"] + unique).joined(separator: " OR ")
  }

  private struct Head: Hashable {
    let name: String
    let event: String
  }

  private func trigger(_ what: String, _ event: String) -> Head {
    // A separate name space: the number makes them unique, and no type's name can begin like this.
    Head(name: "_vivarium \(entry.id.rawValue) \(what)".withoutNull.quoted, event: event)
  }
}

extension String {
  fileprivate var withoutNull: String { String(map { $0 == "\0" ? "\u{2400}" : $0 }) }
}
