import Vivarium

// Each name handles each message once. The store remembers the names of a message type, so that a message is settled only after all
// of them have handled it, also those that are not running. A message that one name has answered is no longer pending; the other
// names get receipts that say that they owe it.

extension Handling {
  static var registrationSuffix: String { "/#registered/\(M._$name)" }

  static func receiptID(_ name: String, _ key: Int64) -> String { "\(name)/\(M._$name)/\(key)" }

  private static func owedMark(_ name: String) -> String { "\(name)/\(M._$name)" }

  /// Registers this name for messages of this type. Done once in the life of a store.
  func register(_ store: Store) throws(StoreError) {
    let id = name + Self.registrationSuffix
    if store.object(MessageReceipt.self, forPrimaryKey: id) != nil { return }
    try store.beginWrite()
    do throws(StoreError) {
      // Another process may have registered it meanwhile.
      if store.object(MessageReceipt.self, forPrimaryKey: id) != nil { return store.cancelWrite() }
      let registration = MessageReceipt(id: id, message: "")
      registration.state = .registered
      try store.add(registration)
    } catch {
      store.cancelWrite()
      throw error
    }
    try store.commitWrite()
  }

  /// The names registered for messages of this type.
  static func names(in store: Store) -> [String] {
    store.objects(MessageReceipt.self).where { $0.message == "" }
      .filter { $0.state == .registered && $0.id.hasSuffix(registrationSuffix) }
      .map { String($0.id.dropLast(registrationSuffix.count)) }
  }

  /// Those of `names` that have not finished a message.
  static func names(_ names: [String], open key: Int64, in store: Store) -> [String] {
    names.filter { name in
      switch store.object(MessageReceipt.self, forPrimaryKey: receiptID(name, key))?.state {
      case .done, .dead: false
      default: true
      }
    }
  }

  /// Records that this name has finished a message. The last name settles it; if it already has an answer, the other names owe it.
  func pass(on found: Found, _ store: Store) throws(StoreError) {
    if found.receipt.owed != "" {
      found.receipt.owed = ""
      // One fewer that has to stay.
      keptBack = max(keptBack - 1, 0)
    }
    let open = Self.names(Self.names(in: store).filter { $0 != name }, open: found.message._$key, in: store)
    if found.message.status == .notProcessed {
      if open.isEmpty { found.message.succeed() }
      return
    }
    for other in open {
      let id = Self.receiptID(other, found.message._$key)
      let known = store.object(MessageReceipt.self, forPrimaryKey: id)
      let receipt = known ?? MessageReceipt(id: id, message: found.message.objectIdentifier)
      if known == nil { try store.add(receipt) }
      receipt.owed = Self.owedMark(other)
    }
  }

  /// The messages that are answered and that this name owes, in the order of insertion.
  func owed(_ store: Store) -> [M] {
    let mark = Self.owedMark(name)
    return store.objects(MessageReceipt.self).where { $0.owed == mark }
      .compactMap { receipt in
        Int64(receipt.id.dropFirst(mark.utf8.count + 1)).flatMap { store.resolve(ObjectReference<M>(key: $0, in: store)) }
      }
      .sorted { $0._$key < $1._$key }
  }

  /// Removes a name: no message waits for it any more. In a write.
  static func forget(_ name: String, in store: Store) throws(StoreError) {
    guard let registration = store.object(MessageReceipt.self, forPrimaryKey: name + registrationSuffix) else { return }
    try store.delete(registration)
    let mark = owedMark(name)
    try store.delete(store.objects(MessageReceipt.self).where { $0.owed == mark })
    let rest = names(in: store)
    if rest.isEmpty { return }
    for message in Array(pending(store)) where names(rest, open: message._$key, in: store).isEmpty { message.succeed() }
  }
}

extension MessageHandler {
  /// Removes a handler's name from the store: pending messages that wait only for this name are settled, and later ones do not wait
  /// for it. If it is the last name, messages stay pending for the next handler. For a name that no program uses any more. A name that
  /// is used again begins with the messages that are pending then.
  public static func forget<M: Message>(
    _ type: M.Type, named name: String, in configuration: Store.Configuration
  ) throws {
    let store = try Store(configuration, isolation: nil)
    try store.write { try Handling<M>.forget(name, in: store) }
  }
}
