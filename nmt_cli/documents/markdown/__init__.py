"""Markdown: which lines are running text, what is inside them, and how their translation is written."""
