/// Shows which module the name belongs to.
public let words = "the client's Words"
