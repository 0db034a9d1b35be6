"""Git between machines, and the merge of two versions of a note."""
