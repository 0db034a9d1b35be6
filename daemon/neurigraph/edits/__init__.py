"""What a person or an AI asks to be changed, done as edits of notes."""
