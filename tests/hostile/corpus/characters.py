"""Characters that a terminal, a page or a reader's eye obeys, hides or chokes on."""

from __future__ import annotations

from typing import Final

ESC: Final = "\x1b"

TERMINAL: Final = (
    f"{ESC}[31mred{ESC}[0m",
    f"{ESC}[2J{ESC}[Hcleared",
    f"{ESC}[3J{ESC}[1;1H{ESC}[0Jscrollback gone",
    f"{ESC}[8mhidden{ESC}[28m seen",
    f"{ESC}[1A{ESC}[2Koverwritten line",
    f"{ESC}[9999Dback{ESC}[9999C forth{ESC}[99B",
    f"{ESC}[?25l{ESC}[?1049h{ESC}[?1000hmodes",
    f"{ESC}[6n{ESC}[c{ESC}[>c{ESC}[5n reports",
    f"{ESC}[21t title report{ESC}[18t",
    f"{ESC}[38;2;1;2;3m{ESC}[48;5;7m{ESC}[4:3mstyle",
    f"{ESC}[5;7;9mblink{ESC}[m",
    f"{ESC}[200~pasted{ESC}[201~",
    f"{ESC}[12345678901234567890mlong",
    f"{ESC}[1;31",
    f"{ESC}[\x1b[31mnested{ESC}{ESC}[0m",
    f"{ESC}[3{ESC}[1m1mspliced",
    f"{ESC}]0;title\x07body",
    f"{ESC}]2;title{ESC}\\body",
    f"{ESC}]0;never closed",
    f"{ESC}]8;;https://canary.invalid/{ESC}\\link{ESC}]8;;{ESC}\\",
    f"{ESC}]8;id=1;javascript:window.hacked=1\x07link{ESC}]8;;\x07",
    f"{ESC}]52;c;cm0gLXJmIH4=\x07clipboard",
    f"{ESC}]1337;File=name=x;inline=1:aGk=\x07{ESC}]50;SetProfile=x\x07",
    f"{ESC}]4;1;rgb:ff/00/00\x07{ESC}]10;?\x07{ESC}]104\x07",
    f"{ESC}]133;A\x07{ESC}]7;file:///etc\x07{ESC}]9;notify\x07",
    f"{ESC}P1;2|dcs{ESC}\\{ESC}P+q544e{ESC}\\{ESC}P$qm{ESC}\\",
    f"{ESC}_apc{ESC}\\{ESC}^pm{ESC}\\{ESC}Xsos{ESC}\\",
    f"{ESC}_Gf=100,t=f;L2V0Yy9wYXNzd2Q={ESC}\\kitty",
    f"{ESC}(0lqqk{ESC}(B{ESC}#8{ESC}c{ESC}=reset",
    f"{ESC}7save{ESC}8restore{ESC}D{ESC}E{ESC}H{ESC}M{ESC}N{ESC}O",
    "\x9b31mred\x9b0m",
    "\x9b2J\x9bH\x9b?1049h",
    "\x9d0;title\x9cbody\x9d52;c;aGk=\x07",
    "\x901;2|dcs\x9c\x98sos\x9c\x9epm\x9c\x9fapc\x9c",
    "\x84\x85\x88\x8d\x8e\x8f\x96\x97 single C1",
    "progress\rdone\x08\x08\x08\x7f",
    "bell\x07 form\x0cfeed vt\x0b shift\x0e\x0f",
    "tab\tstop\t\tcolumns",
    "\x1c file \x1d group \x1e record \x1f unit",
    f"{ESC} ",
    f"{ESC}",
    f"a{ESC}[31;{ESC}]0;x\x07mb",
)
"""ANSI, OSC and other sequences in both forms, whole, cut short and spliced."""

BIDI: Final = (
    "\u202egnp.exe\u202c",
    "\u202dforced\u202c",
    "\u202aembedded\u202c \u202bright\u202c",
    "\u2066isolate\u2069 \u2067right\u2069 \u2068first\u2069",
    "access\u202e\u2066// only admins\u2069\u2066",
    "never closed \u202e",
    "\u2066\u2067\u2068" * 30 + "deep",
    "marks \u200f right \u200e left \u061c arabic",
    "opt-1\u202e2-tpo",
    "price 12\u200f34",
    "\u05d0\u05d1\u05d2 STANCE: opt-1 \u05d3",
    "\u0633\u0644\u0627\u0645 (opt-2) \u0661\u0662",
    "STANCE\u202e: 1-tpo",
    "pick\u2067\u202eopt-2\u202c\u2069.",
)
"""What reorders the letters around it."""

INVISIBLE: Final = (
    "pass\u200bword",
    "zero\u200cwidth\u200djoin",
    "\ufeffbom in front",
    "soft\u00adhyphen",
    "word\u2060joiner\u2061\u2062\u2063\u2064",
    "tag\U000e0041\U000e0042\U000e007f",
    "\U000e0001\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065",
    "filler\u3164\u115f\u1160\uffa0",
    "grapheme\u034fjoiner mongolian\u180e\u180b",
    "khmer\u17b4\u17b5",
    "selector a\ufe00b\ufe0f c\U000e0100",
    "deprecated\u206a\u206b\u206c\u206d\u206e\u206f",
    "annotation\ufff9hidden\ufffabase\ufffb",
    "musical\U0001d173\U0001d17a shorthand\U0001bca0\U0001bca3",
    "\u200b\u200b\u200b\u200b",
    "op\u200bt-1",
    "ST\u200bANCE: opt-1",
    "i\u200bg\u200bn\u200bo\u200br\u200be",
    "spaces \u00a0\u1680\u2000\u200a\u202f\u205f\u3000 of all kinds",
    "Z" + "\u0300\u0301\u0302\u0303\u0304" * 40 + "algo",
    "\u0301\u0302 marks on nothing",
    "e\u20e3\u20dd\u20e0\u0489\ufe20 enclosing",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 family \U0001f3f4\U000e0067\U000e007f flag",
    "homo\u0433l\u0443ph \u0410\u0412\u0421 \uff21\uff22",
)
"""What nobody sees, or what looks like something else."""

BROKEN: Final = (
    "lone \ud800 surrogate",
    "\udfff at the start",
    "at the end \udbff",
    "pair \ud83d\ude00 halves",
    "\ude00\ud83d reversed",
    "escaped \udc80\udcff bytes",
    "null\x00byte",
    "\x00",
    "a\x00\x00b\x00",
    "noncharacters \ufffe\uffff\U0001ffff\ufdd0",
    "private \ue000\U000f0000\U0010fffd",
    "unassigned \u0378\U000e0080",
    "line\u2028separator\u2029paragraph",
    "next\x85line",
    "cr\ralone crlf\r\nlf\nvt\x0bff\x0c",
    "replacement \ufffd\ufffd object \ufffc",
    "\x01\x02\x03\x04\x05\x06\x0e\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a",
    "mojibake Ã¤Ã¶Ã¼ â€œxâ€",
)
"""What is no text, or ends lines where nobody expects it."""

GIANTS: Final = (
    "x" * 12_000,
    "\u652f\u6255\u3044" * 1_000,
    "a\n" * 200 + "b",
    "*" * 4_100,
    "[" * 700,
    "> " * 700,
    "<" * 700,
    "<b>" * 300,
    "&amp;" * 400,
    "`~`" * 300,
    "| " * 700,
    "\u202e" * 200,
    "\x1b[31m" * 1_000,
    "a\u0301" * 2_000,
    "\U0001f468\u200d" * 1_000,
    "$\\" * 400,
)
"""Words and nestings that are too long for their place."""

CHARACTERS: Final = {
    "terminal": TERMINAL,
    "bidi": BIDI,
    "invisible": INVISIBLE,
    "broken": BROKEN,
    "giants": GIANTS,
}
"""These families by name."""
