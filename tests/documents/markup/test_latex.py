r"""LaTeX through translators that copy: text changes, commands and mathematics stay."""

import time

import pytest
from echo import echo, swapped
from hypothesis import given
from hypothesis import strategies as st

from sieve.documents import read_document, translate_bytes, translate_document
from sieve.errors import InputError

KEPT = r"""\documentclass{article}
\usepackage[utf8]{inputenc} % fga
\title[Short]{A title}
\newcommand{\bda}[1]{#1 fga}
\begin{document}
% a comment
\section*{A heading}\label{sec:a}
A paragraph in Section~\ref{sec:a} with $x^2$, \emph{stress} and {\bf weight}~\cite{a,b}.
It costs 5\,\% --- in M\"unchen, ``quoted''.\footnote{A \textbf{note}.}

\begin{itemize}
  \item[Term] An item
\end{itemize}
\begin{equation*}
  a = b
\end{equation*}
\[ c \] where $a$ is \verb|code|.% joined
\begin{tabular}{lr}
  A cell & another \\[2pt] \hline
\end{tabular}
\begin{figure}[ht]\includegraphics[width=3cm]{a.png}\caption{A picture}\end{figure}
\end{document}
not read
"""


def test_a_copy_is_the_same() -> None:
    assert translate_document(echo(), KEPT, "latex") == KEPT


def test_what_is_read() -> None:
    assert read_document(KEPT, "latex").sentences == [
        "Short",
        "A title",
        "A heading",
        "A note.",
        "A paragraph in Section 1 with X, stress and weight.",
        "It costs 5 % — in München, “quoted”.",
        "Term",
        "An item",
        "where X is code.",
        "A cell",
        "another",
        "A picture",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"a \emph{b} \url{c}", r"A \emph{B} \url{c}"),
        (r"a \href{b_c}{d \textbf{e}}", r"A \href{b_c}{D \textbf{E}}"),
        (r"5\% \& {\em b}", r"5\% \& {\em B}"),
        (r"\LaTeX\ is \dots", r"\LaTeX{} IS …"),
        (r"a\footnote{b} c", r"A\footnote{B} C"),
        ("a~\\cite{b} c", "A~\\cite{b} C"),
        (r"a \foo{b}[c] d", r"A \foo{b}[c] D"),
        ("a % b\nc", "A % b\nC"),
        ("a {\n\nb}", "A {\n\nB}"),
        (r"\begin{frame}{a}b\end{frame}", r"\begin{frame}{A}B\end{frame}"),
        (r"\begin{theorem}[a]b\end{theorem}", r"\begin{theorem}[A]B\end{theorem}"),
        (r"\begin{lstlisting}a\end{lstlisting}", r"\begin{lstlisting}a\end{lstlisting}"),
        (r"\def\x#1{a}b", r"\def\x#1{a}B"),
        ("``a'' -- b", "``A'' -- B"),
        (r"x \^a\c{c}\ss", "X âçß"),
    ],
)
def test_what_changes(text: str, expected: str) -> None:
    assert translate_document(echo(swapped), text, "latex") == expected


def test_signs_that_mean_something_are_escaped() -> None:
    signs = echo(lambda piece: piece.replace("b", "50 % & $_{"))
    assert translate_document(signs, "b", "latex") == r"50 \% \& \$\_\{"


def test_another_encoding_is_refused() -> None:
    data = b"\\usepackage[latin1]{inputenc} M\xfcller"
    with pytest.raises(InputError, match=r"^a\.tex: is written in latin1; save it in UTF-8$"):
        translate_bytes(echo(), data, "a.tex")


@pytest.mark.parametrize("piece", ["{", "\\footnote{", "\\(", "\\item[", "\\begin{equation}", "$$"])
def test_what_never_ends_is_read_once(piece: str) -> None:
    text = piece * 3000
    begin = time.process_time()
    assert translate_document(echo(), text, "latex") == text
    assert time.process_time() - begin < 20  # each search to the end would take minutes


@given(st.text(alphabet="ab \n\\{}[]$%&~-'`().*", max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    assert translate_document(echo(), text, "latex") == text
    translate_document(echo(swapped), text, "latex")


def test_a_number_behind_a_command_is_its_own() -> None:
    text = r"\write18{bda} fga \penalty10000 Kla"
    assert translate_document(echo(swapped), text, "latex") == (
        r"\write18{BDA} FGA \penalty10000 kLA"
    )
