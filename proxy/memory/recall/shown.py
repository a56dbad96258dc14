"""Mentions of files and pictures in a question: name, page, and that they were shown; pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from proxy.text.filenames import MIN_TELLING
from proxy.text.lexical import content

_PAGE = re.compile(
    r"\b(?:pages?|pg\.?|slides?|sheets?|chapters?|p\.|seiten?|folien?|blatt|kapitel|páginas?|paginas?|diapositivas?|"
    r"capítulos?|страниц\w*|слайд\w*|лист\w*|глав\w*)\s*+(?:(?:no\.?|nr\.?|number|#)\s*+)?(?P<number>\d{1,4})\b"
    r"|第\s*+(?P<zh>\d{1,4})\s*+[页頁章张張]",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"\b(?:files?|documents?|docs?|pdfs?|attachments?|uploads?|manuals?|handbooks?|guides?|papers?|reports?|articles?|"
    r"books?|e-?books?|slides?|decks?|presentations?|spreadsheets?|workbooks?|worksheets?|tables?|contracts?|leases?|"
    r"agreements?|policy|policies|invoices?|receipts?|bills?|statements?|letters?|forms?|minutes|notes|resume|cv|"
    r"images?|pictures?|photos?|photographs?|pics?|screenshots?|scans?|drawings?|diagrams?|charts?|selfies?|"
    r"dateien?|dokumente?s?|anhang|handbuch\w*|anleitung\w*|berichte?s?|vertr[aä]ge?s?|rechnung\w*|quittung\w*|belege?|"
    r"bilde?r?n?|fotos?|aufnahmen?|tabellen?|folien?|"
    r"archivos?|documentos?|adjuntos?|manual(?:es)?|informes?|contratos?|facturas?|recibos?|im[aá]gen(?:es)?|capturas?|"
    r"файл\w*|документ\w*|вложени\w*|инструкци\w*|отч[её]т\w*|договор\w*|сч[её]т\w*|чек\w*|квитанци\w*|картинк\w*|"
    r"изображени\w*|снимк\w*|снимок|фот\w*|таблиц\w*|презентаци\w*)\b"
    r"|文件|文档|手册|报告|合同|发票|收据|小票|图片|照片|截图|表格|幻灯片",
    re.IGNORECASE,
)
_SENT = re.compile(
    r"\b(?:sent|send|uploaded?|shared?|showed|shown|gave|given|attached|posted|provided|took|taken|"
    r"geschickt|gesendet|hochgeladen|gezeigt|geteilt|schickte|sandte|"
    r"envi[eé]\w*|enviado|mand[eé]|sub[ií]|subido|adjunt\w+|mostr\w+|compart\w+|"
    r"отправ\w+|присл\w+|посл\w+|загруз\w+|показ\w+|скин\w+)\b|发给|发过|发的|发送|上传|给你看",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """Mention of files in a question.

    Args:
        page: A number of a page, slide, sheet or chapter; 0: none.
        is_of_file: It speaks of a file or picture.
        is_sent: It speaks of something having been shown.
        words: Its index terms.
        text: In lower case.
    """

    page: int
    is_of_file: bool
    is_sent: bool
    words: frozenset[str]
    text: str

    @property
    def speaks(self) -> bool:
        """Whether a file is what the question is about at all."""
        return self.page > 0 or self.is_of_file or self.is_sent

    def names(self, name: str, words: Collection[str]) -> bool:
        """Whether the question names a file.

        Args:
            name: Of the file.
            words: Its ``name_terms``.
        """
        whole = name.casefold()
        if len(whole) > MIN_TELLING and whole in self.text:
            return True
        return self.speaks and any(word in self.words for word in words)


def mention(text: str) -> Mention:
    """Return what a question says of files."""
    found = _PAGE.search(text)
    page = int(found["number"] or found["zh"]) if found else 0
    return Mention(
        page,
        _FILE.search(text) is not None,
        _SENT.search(text) is not None,
        frozenset(content(text)),
        text.casefold(),
    )
