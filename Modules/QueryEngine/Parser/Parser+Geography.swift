import QueryModel
import StoreValues

/// Regions, parsed for their grammar only: there are no geographic properties.
extension Parser {
  /// Parses `GEOWITHIN` and its region or argument, and returns the error that it is not available. Throws if the text is
  /// malformed.
  mutating func geoWithin() throws(QueryError) -> QueryError {
    let start = token.start
    try advance()
    if case .argument = token.kind {} else { try region() }
    return error(.notSupported, "GEOWITHIN is not available.", "Compare the coordinates as numbers.", at: start)
  }

  /// `geoBox([x, y], [x, y])`, `geoCircle([x, y], radius)`, or `geoPolygon({[x, y], …}, …)` with holes behind the outline.
  private mutating func region() throws(QueryError) {
    let shape = token.keyword
    guard shape == "geobox" || shape == "geocircle" || shape == "geopolygon" else {
      throw fault("geoBox, geoCircle or geoPolygon")
    }
    try advance()
    try expect("(")
    if shape == "geopolygon" {
      repeat { try outline() } while try take(",")
    } else {
      try point()
      try expect(",")
      if shape == "geobox" { try point() } else { try coordinate() }
    }
    try expect(")")
  }

  private mutating func outline() throws(QueryError) {
    if case .argument = token.kind { return try advance() }
    try expect("{")
    repeat { try point() } while try take(",")
    try expect("}")
  }

  /// `[x, y]`, perhaps with an altitude.
  private mutating func point() throws(QueryError) {
    if case .argument = token.kind { return try advance() }
    try expect("[")
    try coordinate()
    try expect(",")
    try coordinate()
    if try take(",") { try coordinate() }
    try expect("]")
  }

  private mutating func coordinate() throws(QueryError) {
    if token.isSymbol("-") || token.isSymbol("+") { try advance() }
    switch token.kind {
    case .constant(.int), .constant(.double), .constant(.float), .constant(.decimal), .argument: try advance()
    default: throw fault("a coordinate")
    }
  }
}
