"""The door in its parts: what Memory offers, a kind of question a room."""
