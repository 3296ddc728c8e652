"""Text full of what must be protected."""

import random

from hypothesis import strategies as st

SPANS = (
    *("https://example.com/a?b=c&d=%20", "http://user@host.org:8080/x_(y)", "www.example.de/über", "mailto:a@b.org"),
    *("tom.miller+x@example.co.uk", "müller@käse.de", "example.com/path", "ftp://files.example.org/a.tar.gz"),
    *("$5", "5 €", "1.234,56 EUR", "US$ 1,000,000", "3.5 kg", "20°C", "50%", "50 %", "5-10 km/h", "12 000 m²", "-4 °F"),
    *(
        "{name}",
        "{0:.2f}",
        "{{ user.name }}",
        "${HOME}",
        "#{count}",
        "{}",
        "%s",
        "%d",
        "%(name)s",
        "%1$s",
        "%.2f",
        "%%",
    ),
    *("<b>", "</b>", "<br/>", "<a href=\"x?y=1&amp;z\" title='1 > 0'>", "</a>", "<!-- no -->", '<g id="1">', "</ns:x>"),
    *("&copy;", "&#8211;", "⟦3⟧", "😀", "👨‍👩‍👧‍👦", "🇩🇪", "❤️", "👍🏽", "1️⃣", "✓", "▶️", "‼️", "ℹ️", "#️⃣", "◽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"),
)


def lines_with_spans() -> st.SearchStrategy[str]:
    """Any text, spans among it, with and without blanks between."""
    part = st.one_of(
        st.sampled_from(SPANS), st.text(max_size=8), st.sampled_from(["the dog", "said:", "。", ", ", "⟦"])
    )
    return st.lists(st.tuples(part, st.sampled_from(["", " ", " "])), max_size=12).map(
        lambda parts: "".join(text + blank for text, blank in parts)
    )


def sentences_with_spans(words: list[str], number: int) -> list[tuple[str, list[str]]]:
    """Lines of these words with spans between, and the spans of each: `number` spans in all."""
    generator = random.Random(3)
    lines: list[tuple[str, list[str]]] = []
    left = number
    while left:
        spans = generator.choices(SPANS, k=min(left, generator.choice([1, 1, 1, 2, 3, 12])))
        parts = [*spans, *generator.choices(words, k=generator.randint(1, 6))]
        generator.shuffle(parts)
        lines.append((" ".join(parts) + ".", spans))
        left -= len(spans)
    return lines
