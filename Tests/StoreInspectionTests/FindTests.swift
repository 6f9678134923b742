import QueryModel
import StorageInterface
import StoreInspection
import StoreValues
import Testing

@Suite struct FindTests {
  private func people(
    _ condition: PredicateNode = .constant(true), sort: [SortKey] = [], limit: Int? = nil
  ) -> Query {
    Query(type: "Person", condition: condition, sort: sort, limit: limit)
  }

  private let adults = PredicateNode.comparison(
    Comparison(.path(PropertyPath("age")), .greater, .constant(.int(0))))

  @Test func aQueryPrintsWhatItFindsInItsOrder() throws {
    let text = try Kennel().printed(.csv) {
      try $0.find(people(sort: [SortKey(PropertyPath("age"), ascending: false)], limit: 2))
    }
    let dogs = Kennel.annsDogs.replacing("\"", with: "\"\"")
    #expect(
      text == "#key,name,age,best,dogs,friend\r\n1,Ann,41,#1,\"\(dogs)\",\r\n3,\"\",-1,,\"[{\"\"$ref\"\":\"\"Dog-2\"\"}]\",\r\n")
  }

  @Test func aQueryCountsWhatItFinds() throws {
    let kennel = try Kennel()
    #expect(try kennel.printed(.table) { try $0.count(people(adults)) } == "1\n")
    #expect(try kennel.printed(.table) { try $0.count(people()) } == "3\n")
  }

  @Test func aMistakeInAQueryIsAMistakeOfTheCall() throws {
    let kennel = try Kennel()
    let wrong = PredicateNode.comparison(Comparison(.path(PropertyPath("wage")), .greater, .constant(.int(0))))
    let error = #expect(throws: InspectionError.self) { try kennel.printed(.json) { try $0.find(people(wrong)) } }
    #expect(error?.status == .usage)
    #expect(error?.message.contains("wage") == true)
    let missing = #expect(throws: InspectionError.self) { try kennel.printed(.json) { try $0.find(Query(type: "Cat")) } }
    #expect(missing?.status == .notFound)
  }
}
