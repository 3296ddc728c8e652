"""Codes of languages as documents write them. Knows no formats."""

from __future__ import annotations

import re

RIGHT_TO_LEFT = frozenset("ar arc ckb dv fa he ku-arab ps sd syr ug ur yi".split())
# ISO 639-3 codes, which models have, to the shorter codes of ISO 639-1, which documents need (BCP 47).
SHORTER = dict(
    pair.split(":")
    for pair in (
        "afr:af amh:am ara:ar asm:as aze:az bel:be ben:bn bos:bs bre:br bul:bg cat:ca ces:cs cym:cy dan:da "
        "deu:de ell:el eng:en epo:eo est:et eus:eu fas:fa fin:fi fra:fr fry:fy gle:ga gla:gd glg:gl guj:gu "
        "hat:ht hau:ha heb:he hin:hi hrv:hr hun:hu hye:hy ibo:ig ind:id isl:is ita:it jav:jv jpn:ja kan:kn "
        "kat:ka kaz:kk khm:km kin:rw kir:ky kor:ko kur:ku lao:lo lat:la lav:lv lin:ln lit:lt ltz:lb lug:lg "
        "mal:ml mar:mr mkd:mk mlg:mg mlt:mt mon:mn mri:mi msa:ms mya:my nep:ne nld:nl nno:nn nob:nb nor:no "
        "oci:oc ori:or pan:pa pol:pl por:pt pus:ps ron:ro run:rn rus:ru san:sa sin:si slk:sk slv:sl smo:sm "
        "sna:sn snd:sd som:so sot:st spa:es sqi:sq srp:sr sun:su swa:sw swe:sv tam:ta tat:tt tel:te tgk:tg "
        "tgl:tl tha:th tir:ti ton:to tsn:tn tuk:tk tur:tr uig:ug ukr:uk urd:ur uzb:uz vie:vi wol:wo xho:xh "
        "yid:yi yor:yo zho:zh zul:zu cmn:zh pes:fa arb:ar "
    ).split()
)
TAG = r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*"


def find_language_tag(code: str) -> str:
    """Returns the BCP 47 tag of a language code ("deu" is "de"); an empty string for what is no code."""
    if re.fullmatch(TAG, code) is None:
        return ""
    primary, *others = re.split("[-_]", code)
    return "-".join([SHORTER.get(primary.lower(), primary.lower()), *others])


def is_right_to_left(tag: str) -> bool:
    """Whether the script of a language, given by its tag, runs from right to left."""
    lowered = tag.lower()
    return lowered in RIGHT_TO_LEFT or lowered.split("-")[0] in RIGHT_TO_LEFT or "-arab" in lowered


def has_same_primary_tag(left: str, right: str) -> bool:
    """Whether two codes name one language; regions and scripts do not count. What is no code is like no other."""
    return find_language_tag(left).split("-")[0] == find_language_tag(right).split("-")[0] != ""
