import Vivarium

// Each name deals with each message once. The store remembers the names of a message type, so that a message is not settled before all
// of them have seen it, also those that do not run at the moment. A message whose answer one of them gives is no longer pending: the
// others get a receipt that says that they owe it.

extension Handling {
  static var registrationSuffix: String { "/#registered/\(M._$name)" }

  static func receiptID(_ name: String, _ key: Int64) -> String { "\(name)/\(M._$name)/\(key)" }

  private static func owedMark(_ name: String) -> String { "\(name)/\(M._$name)" }

  /// Says that messages of this type are this name's too, from now on: once in the life of a store.
  func register(_ store: Store) throws(StoreError) {
    let id = name + Self.registrationSuffix
    if store.object(MessageReceipt.self, forPrimaryKey: id) != nil { return }
    try store.beginWrite()
    do throws(StoreError) {
      // Another process may have been quicker.
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

  /// The names that messages of this type are registered for.
  static func names(in store: Store) -> [String] {
    store.objects(MessageReceipt.self).where { $0.message == "" }
      .filter { $0.state == .registered && $0.id.hasSuffix(registrationSuffix) }
      .map { String($0.id.dropLast(registrationSuffix.count)) }
  }

  /// Those that have not come to an end with a message.
  static func names(_ names: [String], open key: Int64, in store: Store) -> [String] {
    names.filter { name in
      switch store.object(MessageReceipt.self, forPrimaryKey: receiptID(name, key))?.state {
      case .done, .dead: false
      default: true
      }
    }
  }

  /// This name has come to an end with a message. The last one settles it; once it has an answer, the others owe it.
  func pass(on found: Found, _ store: Store) throws(StoreError) {
    found.receipt.owed = ""
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

  /// The messages that have their answer and that this name owes, in the order of insertion.
  func owed(_ store: Store) -> [M] {
    let mark = Self.owedMark(name)
    return store.objects(MessageReceipt.self).where { $0.owed == mark }
      .compactMap { receipt in
        Int64(receipt.id.dropFirst(mark.utf8.count + 1)).flatMap { store.resolve(ObjectReference<M>(key: $0, in: store)) }
      }
      .sorted { $0._$key < $1._$key }
  }

  /// Takes a name out: nothing waits for it any more. In a write.
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
  /// Takes a handler's name out of a store's record: messages of the type that wait for it alone are settled, and those that come do not
  /// wait for it. For a name that no program uses any more; one that is used again begins with the messages that are pending then.
  public static func forget<M: Message>(
    _ type: M.Type, named name: String, in configuration: Store.Configuration
  ) throws {
    let store = try Store(configuration, isolation: nil)
    try store.write { try Handling<M>.forget(name, in: store) }
  }
}
