"""Expected results for the public files, found by looking at them: words of the text, or the reason of a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proxy.settings.load import environment

DATA = Path(environment().get("THROUGHLINE_DATA") or Path(__file__).parents[3] / "shared" / "data")


@dataclass(frozen=True)
class Row:
    """A file with strings of its text; only OCR finds those in ``seen``."""

    path: str
    said: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    refused: str = ""
    pages: int = 1
    is_large: bool = False  # not in the suite

    @property
    def file(self) -> Path:
        return DATA / self.path


def _row(
    path: str, *said: str, seen: tuple[str, ...] = (), refused: str = "", pages: int = 1, is_large: bool = False
) -> Row:
    return Row(path, said, seen, refused, pages, is_large)


DOCUMENTS = [
    _row("documents/docx/docx_complex_layout.docx", "Complex Document", "| Encryption | Enabled |", seen=("SSL Certificate Expires 2025-12-31",)),
    _row("documents/docx/docx_multipage.docx", "# Page 2 - Image at End", "AFTER IMAGE", seen=("DOCX PAGE 2: Footer Note",)),
    _row("documents/docx/drawingml.docx", "Torque v/s Speed characteristics", "Text 1"),
    _row("documents/docx/handbook-872p.docx", "# CHAPTER 1 – INTRODUCTION", "SURETY AND FIDELITY BONDS", "Standing Trustee", is_large=True),
    _row("documents/docx/rlink.docx", "Testing Linked Images", "A red and blue square"),
    _row("documents/docx/simple.docx", "# These are a few of my favorite things", "- Hockey", "DOYLESTOWN, PA 18901"),
    _row("documents/docx/test_with_comment.docx", "# Abstract", "Qingyun Wu", "This is a test comment. 12df-321a", "55yiyi-asd09"),
    _row("documents/email/fake-email-image-embedded.eml", "Subject: fake-email-image-embedded", "Date: Mon, 09 Jan 2023 15:00:43 -0600", "Violets are blue", "Attachments: unstructured_logo.png"),
    _row("documents/email/test_outlook_msg.msg", "Subject: Test Email Message", "Date: Sun, 22 Dec 2024 08:23:00 +0000", "This is the body of the test email message"),
    _row("documents/epub/epub_purvis_poetry.epub", "Sarah Louisa Forten Purvis", "The Grave of the Slave", pages=5),
    _row("documents/epub/winter-sports.epub", "CHAPTER IV TOBOGGANING", "RINKS AND SKATERS", pages=10),
    _row("documents/html/example-10k-1p.html", "Galaxy Gaming, Inc.", "20-8143439", "6480 Cameron Street"),
    _row("documents/html/example-with-scripts.html", "# Russian Offensive Campaign Assessment, December 13", "Karolina Hird, George Barros"),
    _row("documents/html/test_blog.html", "Does Model and Inference Parameter Matter in LLM Applications"),
    _row("documents/html/test_serp.html", "American multinational corporation and technology company headquartered in Redmond"),
    _row("documents/html/wiki_duck.html", "Ducks appear on several coats of arms", "Old English dūce", "# Heraldry"),
    _row("documents/other/test_notebook.ipynb", "# Test Notebook", 'print("markitdown")', "## Code Cell Below"),
    _row("documents/pdf/DA-1p.pdf", "# Abomination", "8:84 Blessed", "# Arcane Horror"),
    _row("documents/pdf/MEDRPT-2024-PAT-3847_medical_report_scan.pdf", seen=("Increase Lisinopril from 10mg to 20mg", "142/88 mmHg", "MRD-2024-1028"), pages=3),
    _row("documents/pdf/SPARSE-2024-INV-1234_borderless_table.pdf", "# INVENTORY RECONCILIATION REPORT", "|  | B-07 |  | 289 | -23 |  |", "| SKU-1123 | Hardware | $55.00 | $27,500.00 | 2024-10-30 | Verified |", pages=2),
    _row("documents/pdf/base64image.pdf", "PDF Annotator", seen=("assign it to yourself",)),
    _row("documents/pdf/embedded-images-tables.pdf", "Langmuir adsorption isotherm", "| 10 | 0.0382 | 0.0086 | 0.5356 | 1.24E-05 | 246.080 | 0.0919 |"),
    _row("documents/pdf/fr_olap.pdf", "# Résumés et interrogations de logs de requêtes OLAP", "Université François Rabelais Tours", pages=12),
    _row("documents/pdf/google-doc-document.pdf", "# Example document", "Readability counts.", "| Capital | Jakarta | Berlin | Vienna | Paris | Vatican City |"),
    _row("documents/pdf/habibi.pdf", "habibi"),
    _row("documents/pdf/libreoffice-form.pdf", "# Example for a Form", "Nationality", "First Name: Alice"),
    _row("documents/pdf/libreoffice-writer-password.pdf", refused="encrypted"),
    _row("documents/pdf/loremipsum-flat.pdf", seen=("Lorem ipsum dolor sit amet, consectetur adipiscing elit", "turpis in volutpat placerat")),
    _row("documents/pdf/minimal-document.pdf", "Lorem ipsum dolor sit amet"),
    _row("documents/pdf/multi-column-2p.pdf", "# Dense Passage Retrieval for Open-Domain Question Answering", "# Abstract", "1 Introduction", pages=2),
    _row("documents/pdf/multi_page.pdf", "# The Evolution of the Word Processor", "Christopher Latham Sholes", "WordStar (1978)", pages=5),
    _row("documents/pdf/multicolumn.pdf", "# Two-Column Document with Lorem Ipsum", "Curabitur dictum gravida\nmauris", pages=3),
    _row("documents/pdf/nemotron_multipage.pdf", seen=("Docling bundles PDF document conversion to\nJSON and Markdown in an easy self contained\npackage",), pages=4),
    _row("documents/pdf/ocr_test.pdf", seen=("Docling bundles PDF document conversion to",)),
    _row("documents/pdf/ocr_test_rotated_90.pdf", seen=("JSON and Markdown in an easy self contained",)),
    _row("documents/pdf/pdf_scanned_meeting_minutes.pdf", seen=("MEETING MINUTES", "Date: March 10, 2024", "Current spend: 75% of allocated budget")),
    _row("documents/pdf/pdflatex-image.pdf", "# 1 Your Chapter", "Stet clita kasd gubergren"),
    _row("documents/pdf/pdflatex-outline.pdf", "# Contents", "# 3 Baz", "Huardest gefburn", pages=4),
    _row("documents/pdf/picture_classification.pdf", "# Figures Example", "Figure 2: This is an example image.", pages=2),
    _row("documents/pdf/redp5110_sampled.pdf", "# Row and Column Access Control", "1.1 Security fundamentals", "QIBM_DB_SYSMON", pages=18),
    _row("documents/pdf/right_to_left_01.pdf", "تعتبر البرمجة بلغة R", "Python", "الإنتاجية"),
    _row("documents/pdf/single_table.pdf", seen=("20,843", "Processing")),
    _row("documents/pptx/test.pptx", "1b92870d-e3b5-4e65-8153-919f4ff45592", "a3f6004b-6f4f-4ea8-bee3-3741f4dc385f", "- Sub comment 2", seen=("5bda1dd6",), pages=6),
    _row("documents/text/book-war-and-peace-1225p.txt", "Well, Prince, so Genoa and Lucca", "Anna Pavlovna"),
    _row("documents/xlsx/test.xlsx", "| 13 | 14 | 15 | affc7dad-52dc-4b98-9b5d-51e65d8a8ad0 |", "| Alpha | Beta | Gamma | Delta |", pages=2),
    _row("documents/xlsx/xlsx_01.xlsx", "| first | second | third |", "| 6 | 0 | -6 |", pages=4),
]  # fmt: skip

IMAGES = [
    _row("documents/html/example_image_01.png", "Docling", "LangChain"),
    _row("images/images_ocr/8071_093.3B.tif", "wandered around the house", "Kathleen Kilpatrick"),
    _row("images/images_ocr/black_font_color_transparent.png", "我是中国人"),
    _row("images/images_ocr/ch_en_num.jpg", "正品促销", "强力去污符合国标"),
    _row("images/images_ocr/check_return_word_len.jpeg", "机动车登记证书编号", "2022-83-18"),
    _row("images/images_ocr/devatest.png", "Kalimati"),
    _row("images/images_ocr/eslav.jpg"),
    _row("images/images_ocr/eurotext.tif", "The (quick) [brown] {fox} jumps!", "über den faulen Hund", "salta sobre o cão preguiçoso"),
    _row("images/images_ocr/hebrew.png"),
    _row("images/images_ocr/img_exif_orientation.jpg", "我是中国人"),
    _row("images/images_ocr/japan.jpg", "素敵な四季を探す旅", "三星堆の文化財"),
    _row("images/images_ocr/korean.jpg"),
    _row("images/images_ocr/phototest.tif", "This is a lot of 12 point text", "brown dog jumped over the lazy fox"),
    _row("images/images_photo/astronaut.png"),
    _row("images/images_photo/camera.png"),
    _row("images/images_photo/chelsea.png"),
    _row("images/images_photo/coffee.png"),
    _row("images/images_photo/coins.png"),
    _row("images/images_photo/grass.png"),
    _row("images/images_photo/motorcycle_left.png"),
    _row("images/images_photo/rocket.jpg"),
    _row("images/images_scan/DA-1p.jpg", "Abomination", "We arrived in the dead of night", "Arcane Horror"),
    _row("images/images_scan/double-column-A.jpg", "§ 1.2 Extent of the competitive service", "(c) Competitive status shall mean basic\neligibility"),
    _row("images/images_scan/english-and-korean.png", "RULES AND INSTRUCTIONS", "Harutonations@gmail.com"),
    _row("images/images_scan/jpn-vert.jpeg", "元来日本語は漢文に倣い文字を上\nから下へ"),
    _row("images/images_scan/old_newspaper.png", "French Institute", "natives of France", "Liquor, Beer, Wine"),
    _row("images/images_scan/page.png", "Region-based segmentation", "histogram of grey values"),
    _row("images/images_scan/qr_bill_example.jpg", "Robert Schneider AG", "Bill no. 3139", "CH58 0079 1123 0008 8901 2"),
    _row("images/images_screenshot/activity.png", "Search events", "20 days ago"),
    _row("images/images_screenshot/datasette-favicon.png"),
    _row("images/images_screenshot/test.jpg", "AutoGen: Enabling Next-Gen LLM", "auto-gen@outlook.com", "Abstract"),
    _row("images/images_screenshot/test_llm.jpg", "5bda1dd6"),
]  # fmt: skip
