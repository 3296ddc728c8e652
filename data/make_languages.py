"""Writes `nmt_cli/languages/data/iso639.tsv`: every code of ISO 639-3 and 639-5 with names, a language on a line.

    pip install language-data==1.4.0 babel==2.19.0 && python data/make_languages.py

A line has the code and the names in their order, separated by tabs: those of the IANA Language Subtag Registry (public
domain, CC0; a copy comes with language-data), those below, by which speakers and neighbours call a language, and those
that CLDR (Unicode licence) has in the languages that field linguists write in.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from babel import Locale

TARGET = Path(__file__).parent.parent / "nmt_cli" / "languages" / "data" / "iso639.tsv"
SPOKEN = ("en", "es", "fr", "pt", "de", "it", "ru", "id")  # whose names of languages are listed
LEFT_OUT = ("special", "private-use")  # scopes of codes that name no language: mul, und
FIELD = re.compile(r"^(\w[\w-]*): (.*)$", re.MULTILINE)

# Names that neither source has. A code that comes first is meant by a name that several languages share.
OTHER_NAMES = """
    tar Rarámuri, Ralámuli, Tarahumara Central
    hch Wixárika, Wixarika, Wixaritari
    agr Awajún, Awajun
    cni Asháninka, Ashéninka del Apurímac
    shp Shipibo, Conibo, Shipibo-Konibo, Shipibo Konibo
    bzd Bribri, Dur Rhim
    oto Otomí, Otomi, Hñähñu, Hñahñu
    nah Náhuatl, Nahuatl, Mexicano, Nawatl
    gn Avañe'ẽ, Avañe’ẽ
    qu Runasimi, Runa Simi
    quy Quechua Chanka, Chanka
    ay Aru, Aymar Aru
    guc Wayuunaiki, Wayuu, Guajiro
    arn Mapudungun, Mapuche
    yua Maya Yucateco, Maaya T'aan, Maayat'aan
    quc K'iche', Quiché, Kiche
    cak Kaqchikel, Cakchiquel
    kek Q'eqchi', Kekchí, Qeqchi
    mam Mam, Qyool Mam
    tzh Tzeltal, Bats'il K'op Tseltal, Tseltal
    tzo Tzotzil, Tsotsil, Bats'i K'op
    cab Garífuna, Garifuna
    miq Miskito, Mískito
    cuk Kuna, Guna, Dulegaya, San Blas Kuna
    gym Ngäbere, Guaymí
    pbb Nasa Yuwe, Páez
    gum Namtrik, Guambiano, Misak
    mca Maká
    tob Qom, Qom L'aqtaqa, Toba
    mzh Wichí, Wichí Lhamtés
    cbi Cha'palaa, Chachi
    jiv Shuar Chicham, Shuar
    auc Wao Terero, Huaorani, Waorani
    mcf Matsés
    amc Amahuaca
    cbr Kakataibo, Cashibo
    not Nomatsigenga
    mcb Matsigenka, Machiguenga
    pib Yine, Piro
    yad Yagua
    boa Bora
    huu Murui, Huitoto
    tca Ticuna, Tikuna
    kgp Kaingang
    xav Xavante, A'uwẽ
    gub Guajajára, Tenetehara
    yrl Nheengatu, Nhengatu
    lkt Lakȟótiyapi, Lakota
    nv Diné Bizaad, Navajo, Navaho
    chr Tsalagi, Cherokee
    chy Tsėhesenėstsestotse
    cr Nēhiyawēwin, Cree
    oj Anishinaabemowin, Ojibwe
    iu Inuktut, Inuktitut
    ik Iñupiaq, Inupiaq
    kl Kalaallisut
    esu Yup'ik, Yupik, Yugtun
    haw ʻŌlelo Hawaiʻi
    crk Plains Cree
    mic Mi'kmaq, Mi'kmaw
    moh Kanien'kéha, Mohawk
    blc Nuxalk
    hur Halq'eméylem, Hul'q'umi'num'
    mi Te Reo Māori, Te Reo
    to Lea Faka-Tonga
    sm Gagana Sāmoa
    fj Vosa Vakaviti
    ty Reo Tahiti
    rap Rapa Nui
    mh Kajin M̧ajeļ
    ch Fino' Chamoru
    bi Bislama
    tpi Tok Pisin, Melanesian Pidgin
    ho Hiri Motu
    pdt Plautdietsch, Mennonite Low German, Plattdietsch
    nds Plattdeutsch, Plattdüütsch
    pdc Pennsilfaanisch Deitsch, Pennsylvania Dutch
    gsw Schwyzerdütsch, Schwiizerdütsch
    hsb Obersorbisch, Hornjoserbšćina
    dsb Niedersorbisch, Dolnoserbšćina
    frr Nordfriesisch, Frasch
    csb Kaszëbsczi, Kashubian
    szl Ślōnskŏ gŏdka
    rom Romani, Romanes, Rromani
    se Davvisámegiella, Northern Sámi, Northern Saami
    sma Åarjelsaemien
    smj Julevsámegiella
    smn Anarâškielâ
    fo Føroyskt
    br Brezhoneg
    kw Kernewek
    gv Gaelg
    gd Gàidhlig
    ga Gaeilge
    cy Cymraeg
    eu Euskara
    ast Asturianu
    an Aragonés
    oc Occitan, Lenga d'òc
    co Corsu
    sc Sardu
    fur Furlan
    lij Ligure
    vec Vèneto
    scn Sicilianu
    nap Napulitano
    sw Kiswahili, Swahili, Suaheli
    ln Lingala, Lingála
    lg Luganda
    rw Kinyarwanda
    rn Kirundi
    ny Chichewa, Chinyanja, Chewa
    sn chiShona
    zu isiZulu
    xh isiXhosa
    st Sesotho
    tn Setswana
    nso Sesotho sa Leboa, Sepedi
    ss siSwati
    ts Xitsonga
    ve Tshivenḓa
    nr isiNdebele
    ha Hausa, Harshen Hausa
    ig Asụsụ Igbo
    yo Èdè Yorùbá
    ee Eʋegbe
    tw Twi
    wo Wolof, Ouolof
    ff Fulfulde, Pulaar, Pular, Fula
    bm Bamanankan
    kab Taqbaylit, Kabyle
    zgh Tamazight
    om Afaan Oromoo, Oromo
    so Af Soomaali
    ti Tigrinya, Tigrigna
    am Amharic, Amarinya
    luo Dholuo, Luo
    ki Gĩkũyũ, Kikuyu
    mg Malagasy
    hmn Hmoob, Hmong
    mww Hmong Daw, White Hmong
    ksw S'gaw Karen
    kjh Khakas
    sah Sakha Tyla, Yakut
    tyv Tyva Dyl
    cv Chăvashla
    mhr Meadow Mari
    myv Erzya
    kv Komi
    udm Udmurt
    ain Ainu, Aynu Itak
    jam Patwa, Jamaican Patois
    ht Kreyòl Ayisyen, Haitian Creole
    pap Papiamentu, Papiamento
    srn Sranan Tongo
    kea Kriolu, Kabuverdianu
    pcm Nigerian Pidgin, Naijá
    rop Kriol
    pjt Pitjantjatjara
    wbp Warlpiri
    gup Kunwinjku
    tl Tagalog, Filipino
    ceb Bisaya, Sinugboanon
    ilo Iloko, Ilokano
    hil Hiligaynon, Ilonggo
    war Waray
    su Basa Sunda
    jv Basa Jawa
    ban Basa Bali
    bug Basa Ugi
    min Baso Minang
    tet Tetun
    dv Dhivehi, Maldivian
"""


def main() -> None:
    names = read_registry()
    for line in OTHER_NAMES.strip().splitlines():
        code, others = line.split(maxsplit=1)
        if code in names:
            names[code] += others.split(", ")
    for spoken in SPOKEN:
        for code, name in Locale.parse(spoken).languages.items():
            if code in names:
                names[code].append(name)
    lines = ["\t".join((code, *dict.fromkeys(names[code]))) for code in sorted(names)]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_registry() -> dict[str, list[str]]:
    """Returns the names of each language by its shortest code, without those that are deprecated."""
    text = files("language_data").joinpath("data/language-subtag-registry.txt").read_text(encoding="utf-8")
    names: dict[str, list[str]] = {}
    for entry in text.replace("\n  ", " ").split("%%"):
        values = FIELD.findall(entry)
        fields = dict(values)
        if fields.get("Type") != "language" or "Deprecated" in fields or fields.get("Scope") in LEFT_OUT:
            continue
        described = [value for name, value in values if name == "Description"]
        if fields.get("Scope") == "collection":
            described += [name.removesuffix(" languages") for name in described]
        names[fields["Subtag"]] = described
    return names


if __name__ == "__main__":
    main()
