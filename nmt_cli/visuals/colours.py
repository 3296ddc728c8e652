"""The colours of attention, the same in pictures and on pages. Standard library only: pages do not need matplotlib.

RAMP runs from white to navy. Its CIE lightness falls evenly, so that it works in grey and for every kind of eye.
Between two colours it is interpolated linearly in sRGB, by matplotlib and by attention.js alike.
"""

from __future__ import annotations

RAMP = (
    *("#ffffff", "#eaf2f9", "#d6e5f2", "#bfd8ea", "#a4cde1", "#8dc0dc"),
    *("#75b3d7", "#60a6d0", "#4d99c9", "#3c8bc2", "#2e7dba", "#206fb2"),
    *("#1561a8", "#0a539d", "#09478d", "#083b7b", "#08306b"),
)
DARK_PAPER = "#15171c"
DARK_RAMP = (DARK_PAPER, *reversed(RAMP[1:]))  # on a dark page the strongest weight is the lightest
