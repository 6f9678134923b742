import StorageInterface
import StoreValues

/// What keeps the file right when another program writes it: our own connections run with triggers off and do the
/// same by themselves; any other program runs these, and so its writes are counted and logged.
extension TableLayout {
  var triggers: [String: String] {
    let number = entry.id.rawValue
    let conflicts = self.conflicts
    var result = [
      // REPLACE takes rows away without telling; whether one really went shows when the log is read.
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
    // Two names that differ in NUL alone are one here.
    return Dictionary(
      result.map { head, body in (head.name, "CREATE TRIGGER \(head.name) \(head.event)\nBEGIN\n  \(body)\nEND") }
    ) { first, second in min(first, second) }
  }

  /// Whether a row stands in the way of the new one.
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
    // In a name space of their own: the number makes them unique, and no type's name can begin so.
    Head(name: "_vivarium \(entry.id.rawValue) \(what)".withoutNull.quoted, event: event)
  }
}

extension String {
  fileprivate var withoutNull: String { String(map { $0 == "\0" ? "\u{2400}" : $0 }) }
}
