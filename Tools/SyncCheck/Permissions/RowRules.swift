#if Sync
import Foundation
import StorageMemory
import StoreValues
import SyncClient
import SyncEvents
import SyncModel
import SyncProtocol
import SyncServer
import SyncWebSocket
import Vivarium

/// What is his who has made it, and only grows.
@Model final class Claim {
  @PrimaryKey var id = ""
  var owner = ""
  var amount = 0
}

/// A server with rules for single objects, judged before and after each transaction, and devices that keep to them or do not: every
/// transaction is there as a whole or not at all, as a model says.
@MainActor final class RowRules {
  /// What somebody does to a claim.
  private enum Action {
    case create(String, owner: String, amount: Int)
    case set(String, amount: Int)
    case give(String, to: String)
    case delete(String)

    var id: String {
      switch self {
      case .create(let id, _, _), .set(let id, _), .give(let id, _), .delete(let id): id
      }
    }
  }

  private typealias Claims = [String: (owner: String, amount: Int)]

  private static let path = "/shared/claims"
  private static let users = ["ann", "bob", "cleo", "dan"]

  /// A claim is changed by its owner alone, keeps him, and does not shrink.
  private static func rules() throws -> WriteRules {
    var owners = try ObjectRules(models: Claim.self)
    try owners.require(Claim.self, in: path, "A claim is changed by its owner, and keeps him.") { claim, user in claim.owner == user }
    return { [owners] path, transaction in owners.judge(path, transaction) ?? shrinking(transaction) }
  }

  private nonisolated static func shrinking(_ transaction: UploadCase) -> Verdict? {
    for object in transaction.objects where object.className == Name("Claim") {
      guard let old = amount(transaction.before(object)), let new = amount(transaction.after(object)), new < old else { continue }
      return Verdict(.invalidChange, "A claim does not shrink.")
    }
    return nil
  }

  private nonisolated static func amount(_ claim: ObjectState?) -> Int64? {
    guard case .plain(let plain)? = claim?["amount"], case .int(let amount) = plain.value else { return nil }
    return amount
  }

  private let report: Report
  private var random: SplitMix
  private let host: SyncHost
  private var truth: Claims = [:]
  private var lastNumber = 0
  private var told = 0

  init(stores: any SyncServerStore, seed: UInt64, report: Report) throws {
    host = SyncHost(stores: stores, access: OpenAccess(), rules: try RowRules.rules())
    (self.report, random) = (report, SplitMix(state: seed))
  }

  func run(transactions: Int) async throws {
    let listener = try await WebSocketListener(host: "127.0.0.1", port: 0)
    let serving = Task { [host] in try await listener.run { transport in await host.serve(transport) } }
    var devices: [(user: String, store: Store)] = []
    for user in RowRules.users {
      var configuration = Store.Configuration.memory("claims \(user) \(UUID())", models: Claim.self)
      configuration.sync = SyncConfiguration(
        user: FixedToken(user), path: RowRules.path, connector: try WebSocketConnector("ws://127.0.0.1:\(listener.port)"))
      devices.append((user, try Store(configuration)))
    }
    let listening = devices.compactMap { $0.store.sync }.map { sync in
      Task { [weak self] in
        for await case .problem(let error) in await sync.notices() where !error.text.isEmpty { self?.told += 1 }
      }
    }
    var refused = 0
    for number in 1...max(1, transactions) {
      guard let device = devices.randomElement(using: &random) else { break }
      if try await !write(device.user, device.store) { refused += 1 }
      if number.isMultiple(of: 100) || number == transactions { try await judge(devices) }
    }
    if told == 0, refused > 0 { report.violation("\(refused) transactions were refused, and nobody was told") }
    report.count("transactions under rules", transactions)
    report.count("of them refused", refused)
    for task in listening { task.cancel() }
    for device in devices { await device.store.sync?.stop() }
    await listener.close()
    _ = await serving.result
  }

  /// A transaction of a device; whether it has to stay.
  private func write(_ user: String, _ store: Store) async throws -> Bool {
    var actions: [Action] = []
    try store.write {
      // Chosen within the transaction: before it, a claim may be shown that the server refuses in this moment.
      var shown: Claims = [:]
      for claim in store.objects(Claim.self) { shown[claim.id] = (claim.owner, claim.amount) }
      actions = self.actions(user, shown)
      for action in actions {
        let claim = store.object(Claim.self, forPrimaryKey: action.id)
        switch action {
        case .create(let id, let owner, let amount): _ = try store.create(Claim.self, value: ["id": id, "owner": owner, "amount": amount])
        case .set(_, let amount): claim?.amount = amount
        case .give(_, let other): claim?.owner = other
        case .delete: if let claim { try store.delete(claim) }
        }
      }
    }
    // Now and then the answer is there before the next one, and now and then it is not.
    if Int.random(in: 0..<3, using: &random) == 0 { try await store.sync?.uploaded() }
    return apply(actions, user)
  }

  /// One to three claims, of which most are the user's own and most actions are allowed.
  ///
  /// What acts on a claim that its owner deletes at the same time is refused or without effect, by which of both comes first. So that the
  /// model need not know that, owners delete only mortal claims, and others act only on the rest.
  private func actions(_ user: String, _ shown: Claims) -> [Action] {
    var rest = shown.keys.sorted()
    return (0..<Int.random(in: 1...3, using: &random)).map { _ in
      let isOwn = Int.random(in: 0..<6, using: &random) > 0
      let choice = rest.filter { isOwn ? shown[$0]?.owner == user : shown[$0]?.owner != user && !RowRules.isMortal($0) }
        .randomElement(using: &random)
      guard let id = choice, let claim = shown[id], Int.random(in: 0..<3, using: &random) > 0 else {
        lastNumber += 1
        let owner = Int.random(in: 0..<10, using: &random) == 0 ? "nobody" : user
        return .create("\(lastNumber)", owner: owner, amount: Int.random(in: 1..<1_000, using: &random))
      }
      rest.removeAll { $0 == id }
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where RowRules.isMortal(id) || truth[id]?.owner != user: return .delete(id)
      // Another owner than it is shown with: a gift that is not refused yet, made again, would be no change.
      case 1: return .give(id, to: claim.owner + "'s heir")
      case 2: return .set(id, amount: claim.amount - Int.random(in: 1..<100, using: &random))
      default: return .set(id, amount: claim.amount + Int.random(in: 1..<100, using: &random))
      }
    }
  }

  private static func isMortal(_ id: String) -> Bool { !(Int(id) ?? 0).isMultiple(of: 2) }

  /// The rules once more, in the model's words.
  private func apply(_ actions: [Action], _ user: String) -> Bool {
    var after = truth
    for action in actions {
      let before = truth[action.id]
      switch action {
      case .create(let id, let owner, let amount):
        guard owner == user else { return false }
        after[id] = (owner, amount)
      case .set(let id, let amount):
        guard let before, before.owner == user, amount >= before.amount else { return false }
        after[id] = (user, amount)
      case .give: return false
      case .delete(let id):
        guard before?.owner == user else { return false }
        after[id] = nil
      }
    }
    truth = after
    return true
  }

  private func judge(_ devices: [(user: String, store: Store)]) async throws {
    for device in devices { try await device.store.sync?.uploaded() }
    for device in devices { try await device.store.sync?.downloaded() }
    let expected = truth.map { "\($0.key): \($0.value.owner) \($0.value.amount)" }.sorted()
    for device in devices {
      device.store.refresh()
      let found = device.store.objects(Claim.self).map { "\($0.id): \($0.owner) \($0.amount)" }.sorted()
      if found != expected {
        let (more, less) = (Set(found).subtracting(expected).sorted(), Set(expected).subtracting(found).sorted())
        report.violation("\(device.user) shows \(more), and by the rules has to show \(less)")
      }
    }
    report.count("comparisons", devices.count)
  }
}
#endif
