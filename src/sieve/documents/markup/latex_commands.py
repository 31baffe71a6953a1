"""Which commands and environments of LaTeX hold text, and which are none of a reader's business."""

from __future__ import annotations


def _commands(names: str) -> frozenset[str]:
    return frozenset(f"\\{name}" for name in names.split())


def _environments(names: str) -> frozenset[str]:
    return frozenset(names.split())


HEADINGS = _commands(
    """
    abstract addchap addsec caption captionof chapter dedication framesubtitle frametitle
    keywords minisec paragraph part section subcaption subparagraph subsection subsubsection
    subtitle title
    """
)
"""Their arguments are paragraphs of their own."""

NOTES = _commands(
    """
    endnote footnote footnotetext marginnote marginpar sidenote thanks todo
    """
)
"""Their argument is text that stands elsewhere."""

INLINE = {
    **dict.fromkeys(
        _commands(
            """
            MakeUppercase alert blockquote centerline dunderline emph emph* enquote fbox
            framebox hbox hl makebox mbox so sout st structure term term* text textbf textit
            textlf textls textmd textnormal textquote textrm textsc textsf textsl textsubscript
            textsuperscript textup uline underline uppercase
            """
        ),
        0,
    ),
    **dict.fromkeys(
        _commands(
            """
            colorbox foreignlanguage href hyperlink hyperref hypertarget nameref* parbox
            raisebox rotatebox scalebox textcolor tooltip uuline
            """
        ),
        1,
    ),
    **dict.fromkeys(
        _commands(
            """
            fcolorbox multicolumn multirow
            """
        ),
        2,
    ),
}
"""Their last argument is text of the sentence, behind so many others."""

OUTER_INLINE = _commands(
    """
    centerline multicolumn multirow parbox
    """
)
"""Those whose text is a paragraph of its own."""

REFERENCES = _commands(
    """
    Cref autoref cref eqref labelcref nameref pageref ref subref thepage vref
    """
)
"""Read as a number."""

NAMES = _commands(
    """
    Citet Textcite citealt citeauthor citet citet* textcite
    """
)
"""Read as a name."""

CITATIONS = _commands(
    """
    autocite cite citealp citenum citep cites footcite footnotemark nocite parencite supercite
    """
)
"""They belong to the word before them."""

SPOKEN = {
    **dict.fromkeys(
        _commands(
            """
            Gls Lopt SI ac acl acs ang ce cls cmd code cs ensuremath env file gls glspl
            lstinline meta mintinline nolinkurl num path pkg qty si texttt url
            """
        ),
        "",
    ),
    r"\LaTeX": "LaTeX",
    r"\TeX": "TeX",
    r"\LaTeXe": "LaTeX",
    r"\BibTeX": "BibTeX",
    r"\XeTeX": "XeTeX",
    r"\today": "2020",
    r"\eg": "e.g.",
    r"\ie": "i.e.",
    r"\etc": "etc.",
    r"\etal": "et al.",
}
"""Words of a sentence, and how they are read: by their last argument if that is not said here."""

DIVIDERS = _commands(
    """
    addcontentsline addtocounter addtolength appendix backmatter begingroup bibitem bibliography
    bibliographystyle bigskip bottomrule centering cleardoublepage clearpage cline cmidrule
    endgroup frontmatter hbadness hfill hline hskip hspace hspace* include includegraphics index
    input item kern label linebreak mainmatter maketitle markboth markright medskip midrule
    newcommand newline newpage newtheorem noindent onecolumn pagebreak pagenumbering pagestyle
    par pause printbibliography printindex providecommand qquad raggedright renewcommand
    setcounter setlength smallskip tableofcontents tabularnewline thispagestyle toprule
    twocolumn vfill vskip vspace vspace*
    """
)
"""No sentence goes over them; of `\\label` and `\\index` only where they begin or end one."""

QUIET = _commands(
    """
    hfill hspace hspace* index label noindent
    """
)
"""Dividers that may also stand inside a sentence, where they are points."""

DEFINITIONS = _commands(
    """
    catcode def edef gdef let xdef
    """
)
"""Their names and patterns are no arguments: all up to the end of a group or a line stays."""

TITLED = _environments(
    """
    alertblock block columnblock exampleblock frame
    """
)
"""Environments whose arguments in braces are headings."""

NAMED = _environments(
    """
    claim corollary definition example exercise lemma proof proposition remark theorem
    """
)
"""Environments whose option is a heading."""

KEPT = _environments(
    """
    BVerbatim CD LVerbatim Verbatim VerbatimOut algorithm algorithm2e algorithmic algorithmicx
    align alignat alltt array asy axis cases code comment decl displaymath dmath
    environmentdescription eqnarray equation filecontents flalign forest gather lstlisting
    luacode lyxcode math minted multline picture program prooftree pspicture pycode scope
    semiverbatim sourcecode split subequations syntax thebibliography tikzcd tikzpicture
    verbatim
    """
)
"""Environments that hold no text for people, or hardly any; also with a star."""
