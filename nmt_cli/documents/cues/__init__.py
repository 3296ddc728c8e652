"""Subtitles: speakers, sentences that continue in the next cue, and line breaks in translations."""
