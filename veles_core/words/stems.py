"""Light English stemming: inflections, a few derivations, the commonest irregular forms.

A stem is a key, not a word. Endings of other languages mostly pass; where one is taken for
English (a Spanish plural, a German -e), facts and questions lose it alike.
"""

import re
from typing import Final

_VOWEL: Final = re.compile("[aeiouy]")
_DOUBLED: Final = re.compile(r"(?<=..)([bdfgmnprt])\1$")
_SHORT: Final = re.compile("[^aeiou]*[aeiouy][^aeiouwxy]")  # hop: hope keeps its e, hoping gets it

_FORMS: Final = """
    be am is are was were been being, do does did done doing, have has had having,
    begin began begun, break broke broken, bring brought, build built, buy bought,
    catch caught, choose chose chosen, come came, draw drew drawn, drink drank drunk,
    drive drove driven, eat ate eaten, fall fell fallen, feel felt, fight fought, find found,
    fly flew flown, forget forgot forgotten, get got gotten, give gave given,
    go goes going went gone, grow grew grown, hear heard, hide hid hidden, hold held, keep kept,
    know knew known, lead led, learn learnt, leave left, lend lent, lose lost, make made,
    mean meant, meet met, pay paid, ride rode ridden, ring rang rung, rise risen, run ran,
    say said, see saw seen, sell sold, send sent, shake shook shaken, shoot shot, show shown,
    sing sang sung, sit sat, sleep slept, speak spoke spoken, spend spent, stand stood,
    steal stole stolen, stick stuck, swim swam swum, take took taken, teach taught, tell told,
    think thought, throw threw thrown, understand understood, use used using,
    wake woke woken, wear wore worn, win won, write wrote written,
    child children, man men, woman women, person people, foot feet, tooth teeth,
    mouse mice, wife wives, knife knives, embed embedded embedding, evening evenings
"""
_IRREGULAR: Final = {
    form: forms[0] for forms in map(str.split, _FORMS.split(",")) for form in forms
}


def stem(word: str) -> str:
    """What the forms of a casefolded word share; codes and other alphabets stay as they are."""
    if not word.isascii() or not word.isalpha() or (len(word) < 4 and word not in _IRREGULAR):
        return word
    root = _IRREGULAR.get(word) or _root(_singular(word))
    if root.endswith("e") and len(root) > 3 and not _SHORT.fullmatch(root, 0, len(root) - 1):
        return root[:-1]
    if root.endswith("y") and len(root) > 3 and root[-2] not in "aeiou":
        return root[:-1] + "i"
    return root


def _singular(word: str) -> str:
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _root(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ing"):
        word = _verb(word, word[:-3])
    elif word.endswith("ed") and not word.endswith("eed"):
        word = _verb(word, word[:-2])
    elif word.endswith("ly") and len(word) > 5:
        word = word[:-2]
    elif word.endswith(("tion", "sion")) and len(word) > 7:
        word = word[:-3]
    if word.endswith("ate") and len(word) > 7:  # celebrate, and celebrat(ed), celebrat(ion)
        word = word[:-3]
    elif word.endswith("at") and len(word) > 6:
        word = word[:-2]
    if word.endswith("ment") and len(word) > 8:
        word = word[:-4]
    return word[:-1] if word.endswith("ll") and len(word) > 5 else word


def _verb(word: str, root: str) -> str:
    """The root of a verb that lost -ing or -ed, or the word if that can't be one."""
    if len(root) < 3 or not _VOWEL.search(root):
        return word
    if _DOUBLED.search(root):
        return root[:-1]
    return root + "e" if _SHORT.fullmatch(root) else root
