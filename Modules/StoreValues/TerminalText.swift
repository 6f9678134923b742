extension Unicode.Scalar {
  /// Whether a terminal might interpret the character, or display what follows it elsewhere: what others wrote is escaped before it is
  /// printed or logged.
  package var isObeyedByTerminals: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
    // Overrides of the writing direction. The joiners of emoji and of Arabic have the same category and are safe.
    case .format: (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
    default: false
    }
  }
}
