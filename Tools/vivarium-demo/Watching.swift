import Foundation
import StoreInspection
import Vivarium

/// Holds a live result while the other side changes what is in it.
@MainActor enum Watching {
  static func change<T: Model>(of results: Results<T>, _ title: String, describe: (T) -> String) async throws {
    let store = results.store
    guard let top = results.first else { throw DemoError("There are no \(title) to watch.") }
    // On one line, whatever others wrote into it.
    func described(_ object: T) -> String { DisplayText.escaped(describe(object)) }
    let before = described(top)
    Terminal.say("  first:  holds \(grouped(results.count)) \(title); row 0 is \(before)")
    try store.write { try Conversation.add(Conversation.request, .first, to: store) }
    let time = try await Conversation.waitForNote(Conversation.change, store)
    guard let now = results.first else { throw DemoError("The \(title) are gone.") }
    Terminal.say("  first:  was told \(milliseconds(time)) after the change; row 0 of the same result is \(described(now))")
    Terminal.say("  first:  and what was row 0 is row \(results.firstIndex(of: top) ?? -1)")
  }
}
