import ChangeTracker
import StorageInterface
import StoreValues

// What cannot be kept row by row is asked again as a whole, which may take as long as a query. The questions are found under the lock,
// answered without it, and the answers taken in under it: a turn waits for none of them.

extension ResultNotifier {
  /// A result that commits may have changed as a whole.
  struct DueQuestion: Sendable {
    fileprivate let recipe: ResultRecipe
    /// What is asked again; nil if the rows are kept one by one.
    fileprivate let whole: ComparedQuestion?
    /// Whether the question itself may have changed, and what it depended on.
    fileprivate let rebinding: Rebinding

    fileprivate enum Rebinding: Sendable {
      case none
      case ifOtherThan([Value?])
      case always
    }
  }

  /// The answers to questions at one version, for the step to it. One that is missing is asked for by the step.
  struct Answers {
    fileprivate var answers: [AnyHashable: Result<KeptResult.Answer, StorageError>] = [:]

    /// The answer for a result; throws what its question threw, which is not asked again.
    subscript(result: KeptResult) -> KeptResult.Answer? {
      get throws(StorageError) { try answers[AnyHashable(result.recipe.identity)]?.get() }
    }
  }

  /// The questions that a step over some commits will ask; nil: unknown commits. O(commits) for each result. Call with `lock`.
  func questions(touchedBy records: [CommitRecord]?) -> [DueQuestion] {
    results.values.compactMap { result in
      guard let records else { return DueQuestion(recipe: result.recipe, whole: nil, rebinding: .always) }
      let whole = result.wholeQuestion(changedBy: records)
      let isTouched = result.recipe.binding.map { records.contains(where: $0.isTouched) } ?? false
      if whole == nil, !isTouched { return nil }
      return DueQuestion(recipe: result.recipe, whole: whole, rebinding: isTouched ? .ifOtherThan(result.boundTo) : .none)
    }
  }

  /// Asks them. What cannot be read fails in the step, which tells that result's observers. Call without `lock`.
  func answers(to questions: [DueQuestion], in reading: any StorageReading) -> Answers {
    var answers = Answers()
    for question in questions {
      answers.answers[AnyHashable(question.recipe.identity)] = Result { () throws(StorageError) in try question.answer(in: reading) }
    }
    return answers
  }
}

extension ResultNotifier.DueQuestion {
  fileprivate func answer(in reading: any StorageReading) throws(StorageError) -> KeptResult.Answer {
    let rows: [Int64]? = if let whole { RowIdentity.rows(of: try whole.keys(reading)) } else { nil }
    let total: KeptTotal? = if let rows, let of = recipe.total { try KeptTotal(of, of: .rows(rows), in: reading) } else { nil }
    return KeptResult.Answer(rows: rows, total: total, anew: try isRebound(in: reading) ? KeptResult(recipe, in: reading) : nil)
  }

  private func isRebound(in reading: any StorageReading) throws(StorageError) -> Bool {
    switch rebinding {
    case .none: false
    case .always: true
    case .ifOtherThan(let values): try recipe.binding?.values(in: reading) != values
    }
  }
}

extension KeptResult {
  /// What was asked for a step before it is taken.
  struct Answer {
    /// The rows, identified as by `RowIdentity`.
    let rows: [Int64]?
    /// Their total, if one is observed.
    let total: KeptTotal?
    /// The result of the question as it is now, if it is another one.
    let anew: KeptResult?
  }
}
