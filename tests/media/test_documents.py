"""Each kind of document, generated here, is parsed to headings, paragraphs and tables, page by page."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from proxy.media.base import Content, MediaRefused, Sniffed
from proxy.media.limits import Limits
from proxy.media.processes import end_idle
from proxy.media.read import read_document, sniff_file
from proxy.settings.sections import MediaSettings
from tests.media import made

pytestmark = pytest.mark.anyio

LIMITS = Limits(ocr="off")
TEA = "<p>She drinks green tea.</p>"


@pytest.fixture(scope="module", autouse=True)
def _no_process_left():
    yield
    end_idle()


async def read(folder: Path, data: bytes | str, name: str = "file", limits: Limits = LIMITS) -> Content:
    path = made.saved(folder, data, name)
    return await read_document(path, await sniff_file(path, name), limits)


async def texts(folder: Path, data: bytes | str, name: str = "file") -> Sequence[str]:
    return [page.text for page in (await read(folder, data, name)).pages]


async def reason_of(folder: Path, data: bytes | str, name: str = "file", limits: Limits = LIMITS) -> str:
    with pytest.raises(MediaRefused) as caught:
        await read(folder, data, name, limits)
    return caught.value.reason


async def test_pdf_gives_pages_with_headings_and_its_title(tmp_path):
    body = "\n".join(f"This is line {number} of the story." for number in range(12))
    content = await read(tmp_path, made.pdf(f"# The Kettle\n{body}", "It is (very) blue.", title="Kettles"))
    assert content.title == "Kettles"
    assert [page.number for page in content.pages] == [1, 2]
    assert content.pages[0].text.startswith("# The Kettle\n\nThis is line 0 of the story.\nThis is line 1")
    assert content.pages[1].text == "It is (very) blue."


async def test_pdf_that_is_turned_is_read(tmp_path):
    assert await texts(tmp_path, made.pdf("She drinks tea.\nHe does not.", rotate=90)) == [
        "She drinks tea.\nHe does not."
    ]


async def test_what_is_filled_into_a_form_is_read(tmp_path):
    assert await texts(tmp_path, made.form(Name="Ann Tea", Agree="yes", Empty="")) == ["Name: Ann Tea\nAgree: yes"]


async def test_line_that_heads_each_page_is_said_once(tmp_path):
    pages = [f"Annual Report - page {number}\nThe text of it: {'tea' * number}.\nand more" for number in range(1, 7)]
    said = await texts(tmp_path, made.pdf(*pages))
    assert said[0].startswith("Annual Report - page 1")
    assert not any("Annual Report" in text for text in said[1:])
    assert all("tea" * number in text for number, text in enumerate(said, 1))


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("data", [made.pdf("green tea"), made.docx("green tea"), made.xlsx({"a": [["green tea"]]})])
async def test_each_limits_size_suffices_for_each_reader(tmp_path, size, data):
    limits = Limits.of(MediaSettings(limits=size, ocr="off"))
    assert "green tea" in (await read(tmp_path, data, limits=limits)).pages[0].text


async def test_pdf_of_too_many_pages_is_refused(tmp_path):
    assert await reason_of(tmp_path, made.pdf("a", "b", "c"), limits=Limits(max_pages=2)) == "too_many_pages"


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", made.pdf("tea")[:200], b"%PDF-1.4\n" + b"obj" * 500])
async def test_broken_pdf_is_refused(tmp_path, data):
    assert await reason_of(tmp_path, data) == "malformed"


async def test_pdf_of_a_picture_is_said_unread(tmp_path):
    out = io.BytesIO()
    Image.new("RGB", (400, 400), "white").save(out, "PDF")
    content = await read(tmp_path, out.getvalue())
    assert content.pages[0].is_scanned
    assert content.notes == ("1 picture was not read: OCR is switched off",)


async def test_docx_gives_headings_and_tables(tmp_path):
    data = made.docx("# Tea", "She drinks green tea.", "## Pots", "| Colour | Size |", title="On Tea")
    content = await read(tmp_path, data)
    assert content.title == "On Tea"
    [text] = [page.text for page in content.pages]
    assert text.startswith("# Tea\n\nShe drinks green tea.\n\n## Pots\n\n")
    assert "| Colour | Size |" in text


async def test_pptx_gives_slides_with_their_notes(tmp_path):
    content = await read(tmp_path, made.pptx(("Tea", "Green\nBlack", "Say hello"), ("Cake", "Lemon", "")))
    assert [page.label for page in content.pages] == ["Tea", "Cake"]
    assert content.pages[0].text == "# Tea\n\nGreen\nBlack\n\nNotes: Say hello"
    assert content.pages[1].text == "# Cake\n\nLemon"


async def test_xlsx_gives_a_table_for_each_sheet(tmp_path):
    data = made.xlsx({"Stock": [["Name", "Count"], ["Tea | green", 3.0], ["Cake", 1.5]], "Empty": []})
    [page] = (await read(tmp_path, data)).pages
    assert (page.number, page.label) == (1, "Stock")
    assert page.text == "# Stock\n\n| Name | Count |\n| --- | --- |\n| Tea \\| green | 3 |\n| Cake | 1.5 |"


async def test_xlsx_shows_formulas_without_a_value(tmp_path):
    rows = [["Item", "Price"], ["Rent", 900.0], ["Sum", "=SUM(B2:B9)&amp;&quot; EUR&quot;"], ["Half", "=B2/2"]]
    [text] = await texts(tmp_path, made.xlsx({"Budget": rows}), "budget.xlsx")
    assert "| Rent | 900 |" in text
    assert '| Sum | =SUM(B2:B9)&" EUR" |' in text
    assert "| Half | =B2/2 |" in text


async def test_xlsx_shows_the_value_of_a_computed_formula(tmp_path):
    sheet = b'<c t="str"><f>A1&amp;"x"</f><v>total</v></c><c><f>1+1</f><v>2</v></c><c r="E1" t="str"><f>NOW()</f></c>'
    data = made.xlsx({"Budget": [["Item", 3.0]]})
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    name = "xl/worksheets/sheet1.xml"
    parts[name] = parts[name].replace(b"</row>", sheet + b"</row>", 1)
    [text] = await texts(tmp_path, made.zipped(parts), "budget.xlsx")
    assert "| Item | 3 | total | 2 | =NOW() |" in text


async def test_odt_gives_headings_lists_and_tables(tmp_path):
    body = (
        '<text:h text:outline-level="2">Tea</text:h><text:p>She<text:s text:c="2"/>drinks <text:span>green</text:span> tea.</text:p>'
        "<text:list><text:list-item><text:p>pot</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    assert await texts(tmp_path, made.odt(body)) == [
        "## Tea\n\nShe  drinks green tea.\n\n- pot\n\n| a | b |\n| --- | --- |"
    ]


async def test_epub_gives_chapters_in_spine_order(tmp_path):
    content = await read(tmp_path, made.epub(f"<h1>One</h1>{TEA}", "<h1>Two</h1><p>Cake.</p>", title="Tea and Cake"))
    assert content.title == "Tea and Cake"
    assert [(page.label, page.text) for page in content.pages] == [
        ("One", "# One\n\nShe drinks green tea."),
        ("Two", "# Two\n\nCake."),
    ]


async def test_html_gives_the_text_without_scripts(tmp_path):
    html = (
        f"<!doctype html><html><head><title>Tea &amp; Cake</title><style>p {{}}</style></head><body><h1>Tea</h1>{TEA}"
    )
    content = await read(tmp_path, html + "<script>alert('no')</script><ul><li>one<li>two</ul></body></html>")
    assert content.title == "Tea & Cake"
    [text] = [page.text for page in content.pages]
    assert "# Tea\n\nShe drinks green tea." in text
    assert "- one\n- two" in text
    assert "alert" not in text
    assert "{}" not in text


async def test_mail_gives_headers_text_and_names_of_attachments(tmp_path):
    mail = (
        "From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nSubject: =?utf-8?q?T=C3=A9a?=\r\nDate: Mon, 9 Jan 2023 15:00:43 +0000\r\n"
        'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n'
        f'<html><body>{TEA}</body></html>\r\n--b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename="pot.png"\r\n\r\nx\r\n--b--\r\n'
    )
    content = await read(tmp_path, mail)
    [text] = [page.text for page in content.pages]
    assert text.splitlines()[:2] == ["Subject: Téa", "From: Ann <ann@example.org>"]
    assert "She drinks green tea." in text
    assert text.endswith("Attachments: pot.png")
    assert content.notes == ("attachments were not read: pot.png",)


@pytest.mark.parametrize("last", ["9,90", "9,90;8,80"])
async def test_decimal_commas_do_not_part_a_csv(tmp_path, last):
    text = "".join(f"Artikel {n};{n},50;{n + 1},50;{last}\n" for n in range(1, 6))
    [read] = await texts(tmp_path, text, "preise.csv")
    assert f"| Artikel 1 | 1,50 | 2,50 | {last.replace(';', ' | ')} |" in read


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
async def test_csv_is_parted_by_what_parts_it(tmp_path, sign):
    rows = [["Name", "Says"], ["Ann", '"tea, ""please"""'], ["Bob", "cake"]]
    [text] = await texts(tmp_path, "\n".join(sign.join(row) for row in rows), "people.csv")
    assert text == '| Name | Says |\n| --- | --- |\n| Ann | tea, "please" |\n| Bob | cake |'


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Она пьёт зелёный чай, а он пьёт чёрный кофе и ест пирог.", "cp1251"),
        ("Sie trinkt grünen Tee, er trinkt schwarzen Kaffee und isst süße Äpfel.", "latin-1"),
        ("naïve café", "cp1252"),
        ("名前,年齢\n佐藤太郎,30\n髙橋淳,35", "cp932"),
        ("她喝绿茶，他喝黑咖啡，吃蛋糕。今天天气很好，我们去公园散步。", "gb18030"),
        ("Tea and cake, please.", "utf-16"),
        ("Tea — and cake", "utf-8-sig"),
    ],
)
async def test_text_is_read_in_its_encoding(tmp_path, text, encoding):
    assert await texts(tmp_path, text.encode(encoding), "tea.txt") == [text]


async def test_source_code_is_kept_as_it_is(tmp_path):
    code = "# tea\ndef tea():\n\n    return '\\t'\n"
    content = await read(tmp_path, code, "tea.py")
    assert (content.media_type, content.pages[0].text) == ("text/x-source", code.strip())


async def test_notebook_gives_its_cells(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["# Tea\n", "for two"]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}]},
    ]
    [text] = await texts(tmp_path, json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}), "tea.ipynb")
    assert text == "# Tea\nfor two\n\n```\n1 + 1\n```\n\n2"


async def test_json_in_one_line_is_made_readable(tmp_path):
    [text] = await texts(tmp_path, json.dumps({"tea": ["green"] * 100}), "tea.json")
    assert text.splitlines()[1] == ' "tea": ['


@pytest.mark.parametrize("data", [made.docx(""), made.xlsx({"a": []}), made.epub(""), "<html><body></body></html>"])
async def test_document_without_text_is_refused_as_empty(tmp_path, data):
    assert await reason_of(tmp_path, data) == "empty"


@pytest.mark.parametrize(
    "data",
    [
        made.docx("tea")[:-40],
        made.docx(document="<w:document"),
        made.zipped({"[Content_Types].xml": f"<Types>{made.WORD_TYPE}</Types>"}),
        made.zipped({"mimetype": "application/epub+zip"}, stored=("mimetype",)),
        made.zipped({"mimetype": "application/vnd.oasis.opendocument.text"}, stored=("mimetype",)),
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 500 + "Workbook".encode("utf-16-le") + b"\x00" * 500,
    ],
)
async def test_broken_document_is_refused(tmp_path, data):
    assert await reason_of(tmp_path, data) == "malformed"


async def test_text_over_the_limit_is_cut_and_noted(tmp_path):
    content = await read(tmp_path, "tea " * 1000, limits=Limits(max_text_chars=1000))
    assert sum(len(page.text) for page in content.pages) == 1000
    assert content.notes == ("only the first 1,000 characters were read (media.limits)",)


async def test_reader_of_another_kind_refuses_the_file(tmp_path):
    path = made.saved(tmp_path, made.xlsx({"tea": [["a"]]}))
    with pytest.raises(MediaRefused):
        await read_document(path, Sniffed("document", made.WORD_TYPE, "docx"), LIMITS)
