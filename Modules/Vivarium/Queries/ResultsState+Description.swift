import QueryModel
import StorageInterface
import StoreValues

extension ResultsState {
  /// The results of a description, in any store of the file.
  convenience init<T: Model>(_ description: ResultDescription, of type: T.Type, in store: Store, fault: StoreError?) {
    let source: Source =
      switch description.source {
      case .all: .all
      case .nothing: .nothing
      case .sources(let target, let column): .sources(of: target, through: column)
      case .results(let outer): .results(ResultsState(outer, of: type, in: store, fault: fault))
      case .list(let column, let owner): store.list(column, of: owner).map { .list($0) } ?? .nothing
      }
    self.init(store, store.context(type), description.query, source, fault: fault)
  }
}

extension Store {
  /// The list of an owner by its column; nil if this store has no model for the type.
  func list(_ column: ColumnID, of owner: ObjectKey) -> ListHandle? {
    guard let table = reading.catalog[column.table], let type = model(named: table.name) else { return nil }
    let context = context(of: type)
    guard let ordinal = context.columns.firstIndex(of: column) else { return nil }
    return ListHandle(store: self, context: context, key: owner.rawValue, ordinal: ordinal)
  }

  private func context<T: Model>(of type: T.Type) -> ModelContext { context(type) }
}
