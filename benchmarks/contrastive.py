"""Sentences that only the sentence before can translate: er, sie or es; du or Sie. English to German.

    python benchmarks/contrastive.py write texts.tsv  # to learn from, with other nouns and sentences
    python benchmarks/contrastive.py score MODEL ...  # the share of 200 that are right, without context and with

All sentences are made from the templates below, which were written for this; each is a text of two lines.
"""

from __future__ import annotations

import itertools
import random
import re
import sys
from pathlib import Path
from typing import NamedTuple

import nmt_cli as nmt

LEARNED, TESTED = "learned", "tested"
NOUNS = {  # with article and pronoun
    LEARNED: """lamp:die Lampe:sie door:die Tür:sie bag:die Tasche:sie clock:die Uhr:sie bridge:die Brücke:sie
        newspaper:die Zeitung:sie map:die Karte:sie watch:die Uhr:sie kitchen:die Küche:sie gift:das Geschenk:es
        letter:der Brief:er table:der Tisch:er train:der Zug:er coat:der Mantel:er key:der Schlüssel:er
        hat:der Hut:er computer:der Computer:er tree:der Baum:er knife:das Messer:es spoon:der Löffel:er
        house:das Haus:es book:das Buch:es car:das Auto:es picture:das Bild:es ship:das Schiff:es
        room:das Zimmer:es boat:das Boot:es glass:das Glas:es dress:das Kleid:es plate:der Teller:er""",
    TESTED: """flower:die Blume:sie bottle:die Flasche:sie street:die Straße:sie chair:der Stuhl:er garden:der Garten:er
        ball:der Ball:er window:das Fenster:es bed:das Bett:es bike:das Fahrrad:es""",
}
FIRSTS = {
    LEARNED: (
        ("The {noun} is downstairs.", "{article} ist unten."),
        ("Do you see the {noun}?", "Siehst du {accusative}?"),
        ("That was the {noun}.", "Das war {article}."),
        ("There is the {noun}.", "Da ist {article}."),
        ("The {noun} is mine.", "{article} gehört mir."),
        ("I bought the {noun}.", "Ich habe {accusative} gekauft."),
    ),
    TESTED: (
        ("The {noun} is over there.", "{article} ist da drüben."),
        ("Where is the {noun}?", "Wo ist {article}?"),
        ("This is not the {noun}.", "Das ist nicht {article}."),
        ("Here is the {noun}.", "Hier ist {article}."),
        ("The {noun} was here yesterday.", "{article} war gestern hier."),
    ),
}
SECONDS = {
    LEARNED: (
        ("It is very heavy.", "{pronoun} ist sehr schwer."),
        ("It was cheap.", "{pronoun} war billig."),
        ("It is too big.", "{pronoun} ist zu groß."),
        ("Is it broken?", "Ist {pronoun} kaputt?"),
        ("I hope it is clean.", "Ich hoffe, {pronoun} ist sauber."),
        ("It is no longer there.", "{pronoun} ist nicht mehr da."),
        ("It looks good.", "{pronoun} sieht gut aus."),
        ("It costs ten euros.", "{pronoun} kostet zehn Euro."),
    ),
    TESTED: (
        ("It is very old.", "{pronoun} ist sehr alt."),
        ("It was expensive.", "{pronoun} war teuer."),
        ("It is too small.", "{pronoun} ist zu klein."),
        ("Is it new?", "Ist {pronoun} neu?"),
        ("I think it is beautiful.", "Ich finde, {pronoun} ist schön."),
        ("It is not here.", "{pronoun} ist nicht hier."),
    ),
}
GREETINGS = {  # with whom one is formal, and with whom not
    LEARNED: (
        (
            ("Good morning, Mr. Smith.", "Guten Morgen, Herr Schmidt."),
            ("Excuse me, sir.", "Entschuldigen Sie, mein Herr."),
            ("Thank you, Mrs. Jones.", "Danke, Frau Jones."),
            ("Good evening, Doctor.", "Guten Abend, Herr Doktor."),
            ("Yes, Your Honor.", "Ja, Euer Ehren."),
            ("Welcome, Professor.", "Willkommen, Herr Professor."),
            ("No, Mr. Brown.", "Nein, Herr Brown."),
            ("One moment, please, madam.", "Einen Moment bitte, gnädige Frau."),
        ),
        (
            ("Hi, John!", "Hallo, John!"),
            ("Listen, darling.", "Hör zu, Liebling."),
            ("Hey, Anna!", "He, Anna!"),
            ("Come here, Ken.", "Komm her, Ken."),
            ("Yes, Mom.", "Ja, Mama."),
            ("No, my love.", "Nein, mein Schatz."),
            ("Wait, Lisa!", "Warte, Lisa!"),
            ("Good morning, kid.", "Guten Morgen, Kleiner."),
        ),
    ),
    TESTED: (
        (("Good evening, Mr. Miller.", ""), ("Good morning, madam.", ""), ("Good day, Mrs. Miller.", "")),
        (("Hi, Mary!", ""), ("Hey, Tom!", ""), ("Listen, Mary.", "")),
    ),
}
QUESTIONS = {  # formal and informal
    LEARNED: (
        ("Can you hear me?", "Können Sie mich hören?", "Kannst du mich hören?"),
        ("Where do you work?", "Wo arbeiten Sie?", "Wo arbeitest du?"),
        ("Do you have a car?", "Haben Sie ein Auto?", "Hast du ein Auto?"),
        ("What are you looking for?", "Was suchen Sie?", "Was suchst du?"),
        ("Are you hungry?", "Haben Sie Hunger?", "Hast du Hunger?"),
        ("Do you believe this story?", "Glauben Sie diese Geschichte?", "Glaubst du diese Geschichte?"),
        ("I will call you.", "Ich werde Sie anrufen.", "Ich werde dich anrufen."),
        ("I want to thank you.", "Ich möchte Ihnen danken.", "Ich möchte dir danken."),
        ("You are right.", "Sie haben recht.", "Du hast recht."),
        ("Why are you here?", "Warum sind Sie hier?", "Warum bist du hier?"),
        ("What do you think?", "Was denken Sie?", "Was denkst du?"),
        ("Did you see it?", "Haben Sie es gesehen?", "Hast du es gesehen?"),
        ("You must wait.", "Sie müssen warten.", "Du musst warten."),
        ("Will you come tomorrow?", "Kommen Sie morgen?", "Kommst du morgen?"),
        ("I don't understand you.", "Ich verstehe Sie nicht.", "Ich verstehe dich nicht."),
        ("Is this your coat?", "Ist das Ihr Mantel?", "Ist das dein Mantel?"),
    ),
    TESTED: (
        ("Can you help me?", "Können Sie mir helfen?", "Kannst du mir helfen?"),
        ("Where do you live?", "Wo wohnen Sie?", "Wo wohnst du?"),
        ("Do you have time?", "Haben Sie Zeit?", "Hast du Zeit?"),
        ("What are you doing?", "Was machen Sie?", "Was machst du?"),
        ("Are you tired?", "Sind Sie müde?", "Bist du müde?"),
        ("Do you know this man?", "Kennen Sie diesen Mann?", "Kennst du diesen Mann?"),
        ("I will help you.", "Ich werde Ihnen helfen.", "Ich werde dir helfen."),
        ("I can see you.", "Ich kann Sie sehen.", "Ich kann dich sehen."),
    ),
}
FORMAL, INFORMAL = r"\b(?:Sie|Ihnen|Ihr\w*)\b", r"\b(?:[Dd]u|[Dd]ich|[Dd]ir|[Dd]ein\w*)\b"
SEED, COUNTS = 1, {"pronoun": 120, "address": 80}


class TwoLines(NamedTuple):
    """A text of two lines, their translations, and patterns that the second translation must and must not have."""

    sources: tuple[str, str]
    targets: tuple[str, str]
    right: str
    wrong: str


def capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def make_pronouns(part: str) -> list[TwoLines]:
    """Returns all texts in which `it` stands for a noun of this part."""
    nouns = re.findall(r"(\w+):(\w+ \w+):(\w+)", NOUNS[part])
    texts = []
    for (noun, article, pronoun), first, second in itertools.product(nouns, FIRSTS[part], SECONDS[part]):
        accusative = re.sub("^der ", "den ", article)
        filled = {"noun": noun, "article": article, "accusative": accusative, "pronoun": pronoun}
        pairs = [tuple(capitalise(text.format(**filled)) for text in pair) for pair in (first, second)]
        wrong = "|".join(other for other in ("er", "sie", "es") if other != pronoun)
        (one, eins), (two, zwei) = pairs
        texts.append(TwoLines((one, two), (eins, zwei), rf"(?i)\b{pronoun}\b", rf"(?i)\b(?:{wrong})\b"))
    return texts


def make_addresses(part: str) -> list[TwoLines]:
    """Returns all texts in which `you` is somebody whom the line before addresses."""
    texts = []
    for is_informal, greetings in enumerate(GREETINGS[part]):
        for (greeting, gruss), (question, *answers) in itertools.product(greetings, QUESTIONS[part]):
            patterns = (INFORMAL, FORMAL) if is_informal else (FORMAL, INFORMAL)
            texts.append(TwoLines((greeting, question), (gruss, answers[is_informal]), *patterns))
    return texts


def write_texts(path: Path) -> None:
    """Writes the texts to learn from, with the number of each as its page."""
    texts = make_pronouns(LEARNED) + make_addresses(LEARNED)
    random.Random(SEED).shuffle(texts)
    with path.open("w", encoding="utf-8") as file:
        file.write("source\ttarget\tpage\n")
        for page, text in enumerate(texts):
            file.writelines(f"{one}\t{eins}\t{page}\n" for one, eins in zip(text.sources, text.targets, strict=True))


def score_model(model: Path) -> None:
    """Prints the share of the tested texts whose second line is right, by kind, without context and with."""
    makers = {"pronoun": make_pronouns, "address": make_addresses}
    for context in (0, 1):
        with nmt.load(model, context=context) as translator:
            for kind, make in makers.items():
                texts = random.Random(SEED).choices(make(TESTED), k=COUNTS[kind])
                written = [translator.translate(list(text.sources))[1] for text in texts]
                right = [
                    bool(re.search(text.right, line)) and not re.search(text.wrong, line)
                    for text, line in zip(texts, written, strict=True)
                ]
                print(f"{model} context {context} {kind:8} {100 * sum(right) / len(right):5.1f} %")


if __name__ == "__main__":
    command, *names = sys.argv[1:]
    for name in map(Path, names):
        write_texts(name) if command == "write" else score_model(name)
