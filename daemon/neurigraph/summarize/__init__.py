"""Who writes a memory's title, summary and keywords when the saving AI did not."""
