"""A short sentence in each of many languages, as its words and its final mark."""

from __future__ import annotations

ENDED = [
    ("he waits", "…"),
    ("él espera", "!"),
    ("वह घर पर है", "।"),
    ("أين المحطة", "؟"),
    ("وہ گھر پر ہے", "۔"),
    ("他在家", "。"),
    ("他在家吗", "？"),
    ("Նա տանն է", "։"),
    ("እሱ ቤት ነው", "።"),
    ("သူ အိမ်မှာ ရှိတယ်", "။"),
    ("គាត់នៅផ្ទះ", "។"),
    ("ᱩᱱᱤ ᱚᱲᱟᱜ ᱨᱮ", "᱾"),
]
