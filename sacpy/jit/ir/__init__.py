"""The languages of the compiler. `graph`: functions, typed and of single assignment; `kernel`: what threads do. Each
has a printer and a verifier beside it; `operations` has the types of results, `rewrite` substitution and renaming."""
