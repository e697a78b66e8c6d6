"""What embedders share: settings and prefixes of remote ones, vectors that are checked."""
