"""Fifty sentences whose tags change places in translation, and what each tag must hold then.

Patterns are matched against the whole content of a tag, capital letters aside; an article or a
preposition that the other language adds may stand inside or outside.
"""

from typing import NamedTuple


class Probe(NamedTuple):
    """A sentence with tags, and a pattern for each of them."""

    source: str
    expected: dict[str, str]


EN_DE = [
    Probe(
        "He has <b>never</b> <i>read</i> this book.", {"b": "nie|niemals|noch nie", "i": "gelesen"}
    ),
    Probe(
        "I gave her <i>the red apple</i> <b>yesterday</b>.",
        {"i": "den roten apfel", "b": "gestern"},
    ),
    Probe(
        "She will <b>buy</b> <i>a new car</i> next week.", {"b": "kaufen", "i": "ein neues auto"}
    ),
    Probe(
        "We have <b>seen</b> the <a>old castle</a>.",
        {"b": "gesehen", "a": "(das )?alte schloss|(die )?alte burg"},
    ),
    Probe("You must <b>read</b> <i>this letter</i> today.", {"b": "lesen", "i": "diesen brief"}),
    Probe(
        "I want to <b>drink</b> <i>a glass of water</i>.", {"b": "trinken", "i": "ein glas wasser"}
    ),
    Probe(
        "He <b>did not</b> <i>understand</i> the question.",
        {"b": "(hat )?.*nicht|hat", "i": "verstanden|verstand"},
    ),
    Probe(
        "The children are <b>playing</b> <i>in the garden</i>.", {"b": "spielen", "i": "im garten"}
    ),
    Probe(
        "They have <b>sold</b> their <i>house in Berlin</i>.",
        {"b": "verkauft", "i": "haus in berlin"},
    ),
    Probe(
        "My sister can <b>speak</b> <i>three languages</i>.",
        {"b": "sprechen|spricht", "i": "drei sprachen"},
    ),
    Probe(
        "Could you <b>open</b> <i>the window</i>, please?",
        {"b": "öffnen|aufmachen", "i": "(das )?fenster"},
    ),
    Probe(
        "I would like to <b>visit</b> <i>my grandmother</i> on Sunday.",
        {"b": "besuchen", "i": "meine (großmutter|oma)"},
    ),
    Probe(
        "The police have <b>arrested</b> <i>two men</i>.",
        {"b": "verhaftet|festgenommen", "i": "zwei männer"},
    ),
    Probe(
        "She has <b>written</b> <i>a long letter</i> to her friend.",
        {"b": "geschrieben", "i": "einen langen brief"},
    ),
    Probe(
        "The government wants to <b>lower</b> <i>taxes</i> <u>next year</u>.",
        {"b": "(zu )?senken", "i": "(die )?steuern", "u": "(im )?nächsten jahr|nächstes jahr"},
    ),
    Probe("I do not know where <b>my keys</b> <i>are</i>.", {"b": "meine schlüssel", "i": "sind"}),
    Probe(
        "He says that he <b>bought</b> <i>the house</i> last year.",
        {"b": "gekauft( hat| habe)?|kaufte", "i": "das haus"},
    ),
    Probe(
        "If you <b>need</b> <i>help</i>, call me.",
        {"b": "(hilfe )?brauchen|brauchst|benötigen|benötigst", "i": "hilfe"},
    ),
    Probe(
        "The book <b>that I read</b> was <i>very interesting</i>.",
        {"b": "das ich (las|gelesen habe)", "i": "sehr interessant"},
    ),
    Probe(
        "We <b>met</b> <i>an old friend</i> <u>in the city</u>.",
        {"b": "trafen|getroffen", "i": "einen alten freund", "u": "in der stadt"},
    ),
    Probe(
        "Click <a>here</a> to <b>download</b> <i>the file</i>.",
        {"a": "hier", "b": "herunterzuladen|zu laden", "i": "die datei"},
    ),
    Probe(
        "The company has <b>published</b> <a>its annual report</a>.",
        {"b": "veröffentlicht", "a": "(ihren|seinen) (jahresbericht|geschäftsbericht)"},
    ),
    Probe(
        "You can <b>change</b> <i>your password</i> <a>in the settings</a>.",
        {
            "b": "ändern",
            "i": "ihr (passwort|kennwort)|dein (passwort|kennwort)",
            "a": "in den einstellungen",
        },
    ),
    Probe(
        "She must have <b>lost</b> <i>her ticket</i>.",
        {"b": "verloren( haben)?", "i": "ihr(e)? (ticket|fahrkarte|karte)"},
    ),
    Probe(
        "Yesterday the <b>president</b> <i>met</i> the <u>French minister</u>.",
        {"b": "(der )?präsident", "i": "traf|getroffen", "u": "(den )?französischen minister"},
    ),
]

DE_EN = [
    Probe(
        "Gestern habe ich <b>den Film</b> <i>gesehen</i>.",
        {"b": "(the )?(film|movie)", "i": "saw|watched|seen"},
    ),
    Probe(
        "Er hat <b>das Buch</b> <i>nie</i> <u>gelesen</u>.",
        {"b": "the book", "i": "never", "u": "read"},
    ),
    Probe(
        "Wir werden <b>morgen</b> <i>nach Hamburg</i> <u>fahren</u>.",
        {"b": "tomorrow", "i": "(to )?hamburg", "u": "go|drive|travel|be going|be driving"},
    ),
    Probe("Sie möchte <b>ein neues Auto</b> <i>kaufen</i>.", {"b": "a new car", "i": "(to )?buy"}),
    Probe(
        "Ich weiß, dass <b>er</b> <i>gestern</i> <u>angekommen ist</u>.",
        {"b": "he", "i": "yesterday", "u": "arrived"},
    ),
    Probe(
        "Die Kinder haben <b>im Garten</b> <i>gespielt</i>.",
        {"b": "in the garden", "i": "played|were playing|have played|playing"},
    ),
    Probe("Können Sie <b>mir</b> <i>helfen</i>?", {"b": "me", "i": "help"}),
    Probe(
        "Den <b>alten Mann</b> hat <i>niemand</i> gesehen.",
        {"b": "(the )?old man", "i": "no one|nobody|no-one"},
    ),
    Probe(
        "Er muss <b>die Rechnung</b> <i>bis Freitag</i> <u>bezahlen</u>.",
        {"b": "the bill|the invoice", "i": "by friday|until friday", "u": "pay"},
    ),
    Probe(
        "Meine Schwester kann <b>drei Sprachen</b> <i>sprechen</i>.",
        {"b": "three languages", "i": "speak"},
    ),
    Probe(
        "Sie hat <b>ihrer Freundin</b> <i>einen langen Brief</i> geschrieben.",
        {"b": "(to )?her (girl)?friend", "i": "a long letter"},
    ),
    Probe(
        "Die Polizei hat <b>zwei Männer</b> <i>festgenommen</i>.",
        {"b": "two men", "i": "(has )?arrested"},
    ),
    Probe(
        "Das Haus, das wir <b>gekauft</b> haben, ist <i>sehr alt</i>.",
        {"b": "bought|purchased", "i": "very old"},
    ),
    Probe(
        "Im Sommer fahren <b>wir</b> <i>ans Meer</i>.",
        {"b": "we", "i": "(to )?the (sea|seaside|ocean)"},
    ),
    Probe(
        "Leider habe ich <b>meinen Schlüssel</b> <i>verloren</i>.", {"b": "my keys?", "i": "lost"}
    ),
    Probe(
        "Der Minister will <b>die Steuern</b> <i>senken</i>.",
        {"b": "(the )?taxes", "i": "(to )?(lower|cut|reduce)"},
    ),
    Probe(
        "Ich habe <b>dir</b> <i>das Geld</i> <u>gegeben</u>.",
        {"b": "(to )?you", "i": "the money", "u": "gave|given"},
    ),
    Probe(
        "Heute Abend möchte ich <b>Musik</b> <i>hören</i>.",
        {"b": "music", "i": "(to )?(listen|hear)( to)?"},
    ),
    Probe("Wenn du <b>Hilfe</b> <i>brauchst</i>, ruf mich an.", {"b": "help", "i": "need"}),
    Probe(
        "Sie können <b>Ihr Passwort</b> <a>in den Einstellungen</a> <i>ändern</i>.",
        {"b": "your password", "a": "(in|to) (the )?settings", "i": "change"},
    ),
    Probe(
        "Das Unternehmen hat <a>seinen Jahresbericht</a> <b>veröffentlicht</b>.",
        {"a": "(its|their) annual report", "b": "(has )?published|released"},
    ),
    Probe(
        "Trotz des Regens sind <b>viele Menschen</b> <i>gekommen</i>.",
        {"b": "(many|a lot of|lots of) people", "i": "came|have come|come|arrived"},
    ),
    Probe(
        "Er sagte, dass er <b>keine Zeit</b> <i>habe</i>.",
        {"b": "(had )?no time|not have time|time", "i": "had|did|have"},
    ),
    Probe(
        "Letzte Woche hat <b>der Präsident</b> <i>den französischen Minister</i> <u>getroffen</u>.",
        {"b": "the president", "i": "the french minister", "u": "met"},
    ),
    Probe(
        "Mit diesem Programm kann man <b>Bilder</b> <i>bearbeiten</i>.",
        {"b": "(images|pictures|photos)", "i": "edit|process|be edited|editing"},
    ),
]
