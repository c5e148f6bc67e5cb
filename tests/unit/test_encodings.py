"""Text in whatever encoding it was saved, and words for what only its bytes told."""

import pytest

from stackroom.text.extraction.plain import decode, decode_declared

KOREAN = "이름,금액\n김철수,1200\n박영희,3400\n이순신,5600\n"
JAPANESE = "名前,金額\n山田太郎,1200\n鈴木一郎,3400\n佐藤花子,5600\n"
CHINESE = "租赁合同的通知期是九个星期。押金是四千元人民币，在签署时支付。"
TAIWANESE = "租賃合約的通知期是九個星期。押金是四千元，簽署時支付。"
RUSSIAN = "Срок уведомления составляет девять недель. Залог составляет сорок тысяч рублей."
POLISH = (
    "Okres wypowiedzenia wynosi dziewięć tygodni, a kaucja cztery tysiące złotych. Zażółć gęślą."
)
GREEK = "Η προθεσμία καταγγελίας είναι εννέα εβδομάδες και η εγγύηση τέσσερις χιλιάδες ευρώ."
TURKISH = (
    "Fesih bildirim süresi dokuz haftadır ve depozito dört bin liradır. Kiracı öğrencidir, şöyle."
)
HEBREW = "תקופת ההודעה המוקדמת היא תשעה שבועות והפיקדון הוא ארבעת אלפים שקלים."
ARABIC = "مدة الإشعار في هذا العقد تسعة أسابيع ومبلغ التأمين أربعة آلاف ريال."


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        (KOREAN, "cp949", "EUC-KR"),
        (JAPANESE, "cp932", "Shift_JIS"),
        ("契約の通知期間は九週間です。敷金は四千ユーロです。", "euc_jp", "EUC-JP"),
        (JAPANESE, "iso2022_jp", "ISO2022-JP"),
        (CHINESE, "gb18030", "GB18030"),
        (TAIWANESE, "big5", "Big5"),
        (RUSSIAN, "cp1251", "Windows-1251"),
        (RUSSIAN, "koi8-r", "KOI8-R"),
        (RUSSIAN, "iso8859-5", "ISO-8859-5"),
        (POLISH, "cp1250", "Windows-1250"),
        (POLISH, "iso8859-2", "ISO-8859-2"),
        (GREEK, "iso8859-7", "ISO-8859-7"),
        (TURKISH, "cp1254", "Windows-1254"),
        (HEBREW, "cp1255", "Windows-1255"),
        (ARABIC, "cp1256", "Windows-1256"),
        ("nafn;upphæð\nÞórður;12\nGuðrún;7\n", "cp1252", "Windows-1252"),
        (ARABIC, "iso8859-6", "ISO-8859-6"),
        ("Die Größe beträgt fünf Meter.", "mac-roman", "MAC-ROMAN"),
        ("El período está pagado. Mañana.", "mac-roman", "MAC-ROMAN"),
        ("Die Größe beträgt fünf Meter.", "cp850", "CP850"),
        ("The tenant’s “deposit” – paid…", "cp1252", "Windows-1252"),
        (CHINESE + "\n" + JAPANESE, "utf-16-le", "UTF-16-LE"),
        (CHINESE, "utf-16-le", "UTF-16-LE"),
        ("The notice period is nine weeks.", "utf-16-be", "UTF-16-BE"),
        (RUSSIAN, "utf-16-le", "UTF-16-LE"),
    ],
)
def test_encoding_is_detected_from_bytes_and_reported_as_a_guess(
    text: str, encoding: str, name: str
) -> None:
    assert decode(text.encode(encoding)) == (text, (f"read as {name}, a guess; save it as UTF-8",))


@pytest.mark.parametrize(
    "text",
    [
        "Name;Betrag;Straße\nMüller;1200;Königstraße\n",
        "Zürich;Größe\nKöln;12",
        "id;note\n7;Déjà payé à la réception – 12 €\n",
        "nombre;dirección\nPeña;Calle de la Constitución\nMuñoz;Avenida de España\n",
        "O prazo de notificação é de nove semanas; a caução são quatro mil reais.",
        "Le cœur et la sœur de l’Œuvre",
        "Die Größe beträgt gemäß der Prüfung 5 × 7 m ± 2 %, für Türen übrigens größer.",
        "Uppsägningstiden är nio veckor, och depositionen på fyra tusen återfås.",
    ],
)
def test_words_of_western_europe_in_windows_1252_are_no_guess(text: str) -> None:
    assert decode(text.encode("cp1252")) == (text, ())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("1;Größe\n2;Königstraße", "cp850"),
        ("1;Déjà payé à la réception", "mac-roman"),
        ("1;Zacyniś", "cp1250"),
        ("1;Pronađi\n2;Uređivač", "cp1250"),
        ("1;Bağlamalar", "cp1254"),
        ("1;Antraštė", "cp1257"),
    ],
)
def test_other_letters_never_pass_for_western_ones(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).missing


@pytest.mark.parametrize("padding", [b"", b"\0" * 4_096])
def test_text_with_a_few_zero_bytes_is_read_without_them(padding: bytes) -> None:
    body = f"{RUSSIAN}\0\0 end".encode() + padding

    assert decode(body) == (f"{RUSSIAN} end", ())


@pytest.mark.parametrize("text", [CHINESE, RUSSIAN, "naïve café, déjà vu"])
def test_bad_byte_in_utf_8_is_damage_and_a_gap(text: str) -> None:
    body = f"{text} end".encode() + b"\xe9. And on."

    decoded, missing = decode(body)

    assert decoded == f"{text} end\ufffd. And on."
    assert missing == ("1 character is damaged, and shown as \ufffd",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_text_whose_encoding_is_marked_or_utf_8_is_no_guess(encoding: str) -> None:
    assert decode(KOREAN.encode(encoding)) == (KOREAN, ())


@pytest.mark.parametrize(
    ("text", "encoding", "name", "is_gap"),
    [
        (RUSSIAN, "koi8-r", "KOI8-R", False),
        (POLISH, "iso8859-2", "iso-8859-2", False),
        (CHINESE, "gb18030", "gb2312", False),
        (JAPANESE, "cp932", "x-sjis", False),
        ("Þórður og Guðrún", "cp1252", "iso-8859-1", False),
        (RUSSIAN, "utf-8", "windows-1251", False),
        ("Königstraße, Größe", "cp1252", "utf-8", False),
        ("<meta charset> La caffè è più città.", "cp1252", "windows-1251", False),
        ("Užstatas yra keturi tūkstančiai eurų, žąsys.", "cp1257", "windows-1257", False),
        (RUSSIAN, "koi8-r", "windows-1251", True),
        (POLISH, "cp1250", "iso-8859-2", True),
        (KOREAN, "cp949", "iso-8859-1", True),
        (KOREAN, "cp949", "no such", True),
    ],
)
def test_page_is_believed_unless_its_bytes_say_otherwise(
    text: str, encoding: str, name: str, is_gap: bool
) -> None:
    decoded, missing = decode_declared(text.encode(encoding), name)

    assert (decoded, bool(missing)) == (text, is_gap)
