"""Subtitles: who speaks in a cue, which sentences go on in the next one, and how a translation is broken into lines."""
