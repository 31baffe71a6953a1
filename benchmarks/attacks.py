"""Sentences of kinds that a model of parliament, news and manuals hardly knows."""

import random

CHAT = """hey whats up
lol that was so funny
brb gotta eat smth
omg did you see that??
u there?
idk maybe tomorrow
can u send me the pic pls
sry im late again
thx a lot!!
wanna grab a coffee later?
nope not gonna happen
that movie was lit
pls dont tell anyone
ok cool see ya
where r u guys
gn sleep well
haha good one
i cant even
wait what
ttyl""".splitlines()

CODE = """git commit -m "fix typo"
The function foo_bar(x, y) returns None.
Set max_retries=5 in config.yaml and restart.
if (a && !b) { return c->next; }
pip install numpy==1.26.4
TypeError: unsupported operand type(s) for +: 'int' and 'str'
SELECT name FROM users WHERE id = 42;
The variable i is never used.
export PATH=$PATH:/usr/local/bin
Call obj.method() before obj.close().
<div class="note">Save your work</div>
std::vector<int> v(10, 0);
chmod +x run.sh && ./run.sh
404 Not Found
Use {name} as a placeholder.
The flag --verbose prints more.
def main(argv: list[str]) -> int:
https://example.org/api/v2/items?page=3
x = y ** 2 + 3 * z
Press Ctrl+C to stop.""".splitlines()

WORDS = """cat
water
hello
Thursday
yes
elephant
mother
run
beautiful
seven
because
Monday
freedom
bicycle
why
computer
strawberry
nothing
pharmacist
snow""".splitlines()

NAMES = """Zbigniew Wojciechowski called Aoife O'Sullivan.
Ngozi Okonjo-Iweala met Srettha Thavisin.
Xóchitl Gálvez lives in Tlaxcala.
Mr Brzęczyszczykiewicz is waiting outside.
Saoirse Ronan was born in New York.
The company Qwixzy hired Jörmungandr Ltd.
Guðni Jóhannesson visited Llanfairpwll.
Tenzin Gyatso wrote to Desmond Tutu.
Uluru is also called Ayers Rock.
The village of Hódmezővásárhely is old.
Professor Vyacheslav Molchanov teaches in Nizhny Novgorod.
Kwame Nkrumah was from Nkroful.
She flew with Xiamen Airlines to Ürümqi.
Nguyễn Văn An plays for Bình Dương.
Bartholomew Cubbins sells hats in Didd.
The band Kraftklub played in Chemnitz.
Efua Sutherland lived in Cape Coast.
My friend Thorgerd drives a Škoda.
Dr Ramanathan works at Zscaler.
Ask Siobhan about the Quetzaltenango trip.""".splitlines()

MIXED = """I have a rendezvous mit meinem Freund.
She said c'est la vie and left.
Das ist not my problem.
Can you say buenas noches to him?
We ate Kaiserschmarrn and drank vino tinto.
The Zeitgeist is muy importante.
He wrote привет on the wall.
Déjà vu is a French word, oder?
Please bring das Buch to the office.
Mamma mia, what a day!
The word saudade has no translation.
Prost, my friends!
It's pronounced jalapeño, nicht wahr?
Our team won la copa.
I love Kartoffelsalat.
They shouted Allez les bleus!
The menu says Tagesmenü.
Por favor, wait here.
Let's go, vamos!
His Weltanschauung is simple.""".splitlines()

PLAIN = """Where is the nearest hospital?
The weather will be nice tomorrow.
My brother works in a big factory.
Please close the door behind you.
We have not received your letter yet.
The children are playing in the garden.
He forgot to buy bread and milk.
This book is better than the last one.
The train was late because of the snow.
I would like to reserve a table for two.
She speaks three languages very well.
The government announced new taxes.
Our teacher explained the problem again.
You should drink more water in summer.
They sold their house last month.
The museum is closed on Mondays.
I lost my keys somewhere in the park.
Can you help me with my homework?
The new bridge is two miles long.
Nobody knew the answer to the question.""".splitlines()


def misspelled(lines: list[str], seed: int = 7) -> list[str]:
    """Two neighbouring letters swapped in every third word."""
    rng = random.Random(seed)

    def swap(word: str) -> str:
        at = rng.randrange(1, len(word) - 2)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]

    return [
        " ".join(
            swap(word) if i % 3 == 0 and len(word) > 4 else word
            for i, word in enumerate(line.split())
        )
        for line in lines
    ]


def single_words(lines: list[str], number: int, seed: int = 7) -> list[str]:
    """Words of lines, each of them alone."""
    words = sorted({word for line in lines for word in line.split() if word.isalpha()})
    return random.Random(seed).sample(words, min(number, len(words)))


def unusual(name: str, lines: list[str]) -> dict[str, list[str]]:
    """What can be made of ordinary lines, in numbers that give narrow intervals."""
    return {
        f"{name} in capitals": [line.upper() for line in lines],
        f"{name}, misspelled": misspelled(lines),
        f"words of {name}": single_words(lines, len(lines)),
    }


KINDS = {
    "everyday": PLAIN,
    "chat": CHAT,
    "code": CODE,
    "one word": WORDS,
    "in capitals": [line.upper() for line in PLAIN],
    "misspelled": misspelled(PLAIN),
    "mixed languages": MIXED,
    "names never seen": NAMES,
}
