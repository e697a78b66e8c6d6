"""Negative constraints: sentences that tell the reader not to do something.

Not every negation is one: "do not merge" is, "the file does not exist" isn't. The table
holds, for each cue word of six languages, the pattern that makes it a prohibition. A text
is searched for the cues as plain substrings first, and the patterns only look at the
neighbourhood of a cue, so that the time is linear in the text and small where no cue is.
Patterns see folded text with straight apostrophes; a blank in them is any whitespace.
"""

import functools
import re
from typing import Final, NamedTuple

_REACH: Final = 100  # how far before and after a cue a pattern looks, in characters
_STRIDE: Final = 120  # cues this close after the first share its neighbourhood

#: Where a clause begins: so does an imperative, while a statement has its subject before.
_START: Final = r"(?:\A|\n|[^\w\s'])\s*+(?:\d+[.)] )?"


class Sign(NamedTuple):
    """A cue and the pattern that tells whether it forbids."""

    language: str
    cue: str
    pattern: str


def _sign(language: str, cue: str, *patterns: str) -> Sign:
    return Sign(language, cue, "|".join(patterns))


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """The pattern with its blanks as whitespace, compiled when its cue is first seen.

    All of them at once would take longer than most compilations. What looks behind must
    have a fixed width, so a blank there is one character.
    """
    behind_or_blank = re.compile(r"\(\?<![^)]*\)| ")
    return re.compile(
        behind_or_blank.sub(
            lambda found: r"\s+" if found[0] == " " else found[0].replace(" ", r"\s"), pattern
        )
    )


# English

_AGENT: Final = (
    r"\b(?:you|we|they|nobody|one|(?:sub)?agents?|users?|clients?|developers?|contributors?"
    r"|reviewers?|engineers?|assistants?|models?|bots?|callers?|members?|employees?|admins?"
    r"|operators?|customers?|people|humans|staff|maintainers?|interns?)"
)
#: Verbs of a statement about what is, rather than of an order.
_STATE: Final = (
    r"(?:have|need|know|think|believe|worry|mind|matter|exist|seem|appear|care|understand"
    r"|recall|remember|hesitate|see|find|want|like|expect|agree|mean|depend|belong|support"
    r"|reproduce|tell|explain|confirm|determine|afford|imagine|connect|reach|log in|sign in"
    r"|match|pass|fit|load|compile|respond|answer|happen)\b"
)
#: What is no order even where one could stand.
_IDLE: Final = r"(?:have to|need|know|think|believe|worry|mind|matter|exist|seem|hesitate|care)\b"
_LEAD: Final = (
    rf"(?:{_START}|\b(?:please|and|or|but|then|so|just|also|simply|kindly|therefore|ever) )"
)
_WHETHER: Final = r"(?<!\bif )(?<!\bwhen )(?<!\bwhy )(?<!\bsince )(?<!\bwhat )(?<!\bbecause )"
_PAST: Final = (
    r"(?:\w+ed|ran|came|went|saw|got|made|took|found|knew|thought|began|gave|left|lost|met"
    r"|sent|told|heard|wrote|was|were|had|did|became|built|broke|saw|felt)\b"
)
_HAPPENS: Final = (
    r"(?:expires|returns|terminates|ends|happens|occurs|reaches|completes|finishes|fires"
    r"|stops|fails|works|matches|changes|arrives|comes|rains|exists|gets)\b"
)
_MODAL: Final = r"\b(?:must|should|shall|may|ought)"
_MAYBE: Final = (
    r"(?! (?:work|exist|matter|apply|need|happen|take long|have been|always|even"
    r"|be (?:possible|necessary|needed|required|available|enough|obvious|true|surprising|hard"
    r"|too|(?:an?|the) (?:problem|issue|case))))"
)
_NOT_ING: Final = (
    r"(?!(?:no|some|any|every)?thing|string|setting|meaning|(?:w|k|r|br|spr)ing\b|being|warning"
    r"|pending|remaining|existing|missing|matching|outstanding|conflicting|failing|running"
    r"|corresponding|breaking|following|timing|understanding|evening|morning|building|feeling"
    r"|meeting|encoding|heading|padding|rating|training|waiting|incoming|outgoing|ongoing"
    r"|overlapping|blocking|trailing|leading|working|finding|listing|mapping|binding)"
)

_ENGLISH: Final = (
    _sign(
        "en",
        "never",
        r"\b(?:is|are|be|must|should|shall|may|can|will|to|you) never\b",
        r"(?<!\bhas )(?<!\bhave )(?<!\bhad )(?<!'ve )(?<!'d )(?<!\bwas )(?<!\bwere )(?<!\bi )"
        rf"(?<!\bthan )(?<!\balmost )\bnever\b(?! (?:mind|before|{_PAST}|{_HAPPENS}))",
    ),
    _sign(
        "en",
        "not",
        rf"{_MODAL} (?:\w+ly |also |still |yet )?not\b{_MAYBE}",
        rf"{_LEAD}do not\b(?! {_IDLE})",
        rf"{_WHETHER}{_AGENT} (?:do not|can(?: |)not)\b(?! {_STATE})",
        rf"{_WHETHER}\byou will not\b(?! (?:{_STATE}|be\b|get\b|notice\b|lose\b))",
        r"(?<!\boperation )(?<!\bmethod )\bnot (?:be )?(?:allowed|permitted|acceptable)\b",
        r"\bnot (?:supposed|okay|ok) to\b",
        r"\b(?:is|are) not to (?:be )?(?!blame|mention|say)\w+",
        r"\b(?:sure|careful|care|remember|try|asked|told|instructed|advised|warned) not to\b",
        r"\blet(?:'s| us) not\b",
        r"\bbetter not\b",
        r"\bnothing (?:may|must|should|shall)\b",
    ),
    _sign(
        "en",
        "n't",
        rf"\b(?:must|should|sha|may|ought)n't\b{_MAYBE}",
        rf"{_LEAD}don't\b(?! {_IDLE})",
        rf"{_WHETHER}{_AGENT} (?:do|ca)n't\b(?! {_STATE})",
        r"\b(?:is|are)n't (?:allowed|permitted|acceptable|supposed to|ok to|okay to|to be)\b",
    ),
    _sign("en", "dont", rf"{_LEAD}dont\b(?! {_IDLE})"),
    _sign(
        "en",
        "avoid",
        rf"(?:{_START}(?:(?:please|always|also) )?|\bplease |\n\s*)avoid\b",
        r"\b(?:must|should|shall|needs? to|ha(?:ve|s) to)(?: always)?(?: be)? avoid(?:ed)?\b",
        r"\bto be avoided\b",
    ),
    _sign(
        "en",
        "forbid",
        r"(?<!\b403 )(?<!\b403: )(?<!\bhttp )\bforbidden\b(?! (?:error|response|status))",
        r"\bforbids?\b",
    ),
    _sign("en", "prohibit", r"\bprohibit(?:s|ed)?\b"),
    _sign("en", "disallow", r"\bdisallow(?:s|ed)?\b"),
    _sign("en", "refrain", r"\brefrain from\b"),
    _sign("en", "limits", r"\boff(?: |-)limits\b"),
    _sign("en", "nobody", r"\bnobody (?:may|must|should|shall|is allowed|is to)\b"),
    _sign(
        "en",
        "no ",
        rf"{_START}no {_NOT_ING}\w+ing\b",
        r"\b(?:under|in) no (?:circumstances?|case|event|situation)\b",
        r"\bon no account\b",
        r"\bat no (?:time|point) (?:may|must|should|shall|can)\b",
        r"\bno one (?:may|must|should|shall|is allowed|is to)\b",
        r"\bno (?:[\w-]+ ){1,3}(?:may|must|shall|should)\b",
    ),
)

# French

_FRENCH: Final = (
    _sign(
        "fr",
        "jamais",
        r"(?<!'ai )(?<!'as )(?<!'a )(?<!'avons )(?<!'avez )(?<!'ont )(?<!'avait )(?<!'avaient )"
        r"(?<!\bsi )(?<!\bà )(?<!\bque )\bjamais\b"
        r"(?! (?:vu|été|eu|je n'ai|il n'a|(?:venu|arrivé|parti|tombé|allé)e?s?)\b)",
    ),
    _sign(
        "fr",
        "pas",
        rf"(?:{_START}|\b(?:et|ou|mais|donc|surtout|veuillez|merci de|prière de) )ne (?:surtout )?"
        r"pas\b",
        rf"(?:{_START}|\b(?:et|ou|mais|donc|surtout) )(?:ne |n')"
        r"(?:(?:me|te|le|la|les|lui|leur|y|en|se|vous|nous) |l')?"
        r"(?!\w+ant )\w+(?:-\w+)? (?:surtout )?pas\b",
        r"(?:\bne |\bn')(?:doi[st]|doivent|dev(?:ez|ons|rai[st]|raient|riez)|faut|faudrait)"
        r" (?:\w+ )?pas\b",
        r"\b(?:vous|tu|nous|on|agents|utilisateurs) ne (?:pouvez|peux|peut|peuvent|pouvons) pas\b",
        r"\b(?:n'est|ne sont|n'es|n'êtes) pas (?:permis|autorisé|admis|toléré|censé)(?:e|s|es)?\b",
        rf"{_START}pas d(?:e |')(?!problème|souci|quoi|panique|erreur|résultat|chance|réponse)\w",
    ),
    _sign("fr", "interdi", r"\binterdi(?:t|te|ts|tes|sons|sez|sent|re)\b"),
    _sign("fr", "proscri", r"\bproscri(?:t|te|ts|tes|re)\b"),
    _sign("fr", "prohibé", r"\bprohibée?s?\b"),
    _sign("fr", "défen", r"\bdéfense de (?!thèse)\w+|\bdéfendue?s? d(?:e |')"),
    _sign(
        "fr",
        "aucun",
        r"\b(?:en|dans) aucun cas\b",
        r"\bsous aucun prétexte\b",
        r"\baucune? (?:[\w'-]+ ){1,5}ne (?:doit|peut|devrait)\b",
    ),
    _sign(
        "fr",
        "évite",
        rf"(?:{_START}|\b(?:et|surtout|veuillez) )évite[rz]?\b",
        r"\b(?:à|faut|dois|doit|doivent|devez) éviter\b",
    ),
)

# German

_SOLL: Final = (
    r"\b(?:darf|darfst|dürfen|dürft|soll|sollst|sollen|sollt|sollte|sollten|solltest|solltet)\b"
)
_TU: Final = (
    r"(?:lösche|ändere|committe|pushe|merge|verwende|benutze|nutze|starte|stoppe|führe|schreibe"
    r"|überschreibe|lies|teile|sende|schicke|veröffentliche|deploye|bearbeite|berühre|fass|fasse"
    r"|speichere|gib|geh|gehe|mach|mache|tu|nimm|setze|entferne|installiere|rufe|logge|öffne"
    r"|schließe|schliesse|verlasse|vergiss|aktualisiere|verschiebe|kopiere|erstelle|füge|greife"
    r"|vertraue|ignoriere|umgehe|deaktiviere|aktiviere|ersetze|antworte|frage|sprich|warte|brich"
    r"|zeige|verrate|protokolliere|drücke|klicke|rühre|lass|lasse|baue|trage|leite|hänge)"
)
_SIE: Final = r"(?!haben|können|sind|werden|wollen|wissen|müssen|wenn|dass)\w+e?n sie\b"
_GERMAN: Final = (
    _sign(
        "de",
        "nicht",
        rf"{_SOLL}[^.!?;]{{0,80}}?\bnicht\b(?! (?:passieren|vorkommen))",
        rf"\bnicht\b[^.!?;]{{0,60}}?{_SOLL}",
        r"\b(?:du|sie|ihr|wir|man|agenten|nutzer|benutzer) (?:kannst|können|könnt|kann)\b"
        r"[^.!?;]{0,40}?\bnicht\b",
        r"\bnicht (?:erlaubt|gestattet|zulässig|zugelassen|genehmigt)\b",
        rf"{_START}(?:bitte )?(?:{_TU}|{_SIE}) [^.!?;,]{{0,80}}?\bnicht\b",
        rf"{_START}(?:bitte )?(?:{_TU}|{_SIE}) nicht\b",
        r"\bbitte\b[^.!?;,]{0,80}?\bnicht\b",
        rf"{_START}nicht (?!nur|alle|jede|mehr|so|ganz|immer|zuletzt|selten|weit|einmal|ge\w+en\b"
        r"|vorhanden|bestanden|verbunden)[^.!?;\n]{0,60}?\w(?:en|ern|eln)\b",
    ),
    _sign(
        "de",
        "nie",
        r"(?<!\bhat )(?<!\bhabe )(?<!\bhaben )(?<!\bhatte )(?<!\bhatten )(?<!\bwar )(?<!\bwaren )"
        r"(?<!\bnoch )(?<!\bwie )(?<!\bist )(?<!\bwurde )(?<!\bwurden )\bnie(?:mals)?\b(?! zuvor)",
    ),
    _sign(
        "de",
        "kein",
        rf"{_SOLL}[^.!?;]{{0,80}}?\bkeine?[nmrs]?\b(?! problem)",
        r"\bauf keinen fall\b|\bin keinem fall\b|\bkeinesfalls\b|\bunter keinen umständen\b",
        rf"{_START}(?:bitte )?(?:{_TU}|{_SIE}) (?:[^.!?;,]{{0,40}}?\s)?keine?[nmrs]?\b",
        rf"{_START}(?:bitte )?keine?[nmrs]? [^.!?;\n]{{1,60}}?\s(?!ge\w+en\b|vorhanden|worden"
        r"|werden|haben|bestehen|können|wurden|waren)\w{2,}(?:en|ern|eln)\s*(?:[.!;\n]|\Z)",
    ),
    _sign("de", "verboten", r"\bverboten\b"),
    _sign("de", "verbiete", r"\bverbiete[nt]\b"),
    _sign("de", "untersagt", r"\buntersagt\b"),
    _sign("de", "unterlass", r"\bunterlass(?:e|en|t)\b|\bzu unterlassen\b"),
    _sign("de", "vermeide", rf"{_START}(?:bitte )?vermeide[nt]?\b|\bzu vermeiden\b"),
    _sign("de", "vermieden", r"\bvermieden werden\b"),
    _sign("de", "unzulässig", r"\bunzulässig\b"),
)

# Spanish, Portuguese, Italian

_PRONOUN: Final = r"(?:(?:me|te|se|lo|la|los|las|le|les|nos|o|a|os|as|ci|vi|mi|ti|si|gli|ne) )?"
_NO_ES: Final = (
    r"(?:\w{2,}(?:ar|er|ir)(?:lo|la|los|las|le|les|se|me|te|nos)?"
    r"|(?!techni|uni|lea|va|ton|dialo|catalo|collea)\w+(?:qu|gu)e[ns]?"
    r"|(?:ha|ten|pon|di|ven|sal|trai)ga[ns]?|confundas?|(?:ignor|complet|retir)es"
    r"|(?:utilic|borr|cambi|ejecut|env[ií]|elimin|reinici|cierr|instal|actualic|dej|intent"
    r"|olvid|conf[ií]|revel|fusion|edit|avanc|acept|guard|grab|llam|mand|desactiv|coment"
    r"|mezcl|lanc|cre|expong|almacen|reutilic|desplieg|pas|par|salt|quit|mir)e[ns]?|copien?"
    r"|(?:escrib|sub|compart|abr|muev|permit|vay|respond|le|sobrescrib|met|romp|corr|expong"
    r"|incluy|destruy|construy)a[ns]?"
    r"|us(?:e|es|en) (?:el|la|l[oa]s|un|una|[ei]?st[aeo]s?|es[aeo]s?|tus?|sus?|mis?|nada|otr[oa]s?"
    r"|ning\w+|variables|contraseñas))\b"
)
_SPANISH: Final = (
    _sign(
        "es",
        "no ",
        rf"(?:{_START}|\b(?:por favor|y|o|pero|que) ){_PRONOUN}no {_PRONOUN}{_NO_ES}",
        r"\bno (?:se )?deb(?:e|es|en|éis|emos|ería|erías|erían)\b",
        r"\b(?:tú|usted|ustedes|agentes|usuarios|nosotros) no (?:puede|puedes|pueden|podemos)\b",
        rf"{_START}no puedes\b",
        r"\bno (?:está|están|es|son|fue|queda) (?:permitid|autorizad|aceptable)[oae]?s?\b",
        r"\bno se (?:permite|permiten|admite|admiten|autoriza)\b",
        r"\bno hay que\b",
    ),
    _sign(
        "es",
        "nunca",
        r"(?<!\bha )(?<!\bhe )(?<!\bhan )(?<!\bhabía )(?<!\bcasi )(?<!\bque )(?<!\btinha )"
        r"(?<!\bquase )\bnunca\b(?! (?:ha|he|han|hemos|había|habían|antes|vi|fue|fueron|llegó|pasó"
        r"|foi|foram|houve|tinha|aconteceu|chegou|funcionó|funcionou|tive|terminó|terminou)\b)",
    ),
    _sign("es", "jamás", r"\bjamás\b(?! (?:ha|he|han|hemos|había|vi|fue)\b)"),
    _sign("es", "prohib", r"\bprohib(?:id[oa]s?|en|ir|imos)\b"),
    _sign("es", "prohíb", r"\bprohíben?\b"),
    _sign(
        "es",
        "ning",
        r"\ben ningún (?:caso|momento)\b",
        r"\bbajo ning[uú]na? \w+",
        r"\bde ninguna (?:manera|forma)\b",
        r"\bning[uú]na? (?:[\w-]+ ){1,3}(?:debe|puede)\b",
    ),
    _sign(
        "es",
        "evit",
        rf"(?:{_START}|\b(?:por favor|y|e|sempre|siempre) )"
        r"evit(?:a|e|en|em|ar|are|ate|i|emos)\b",
        r"\b(?:debe|deben|hay que|deve|devem|da|a) (?:se )?evitar(?:e|se)?\b",
    ),
)

_NAO: Final = (
    r"(?:\w{2,}(?:ar|er|ir|or)(?:-\w+)?|\w+(?:qu|gu)em?|(?:fa[çc]|di[gz]|ponh|tenh|venh|traz)am?"
    r"|(?:us|utiliz|alter|mud|execut|envi|delet|compartilh|reinici|fech|copi|instal|atualiz|deix"
    r"|tent|confi|revel|mescl|edit|cri|adicion|ignor|grav|salv|forc|rod|cham|armazen|registr"
    r"|guard|commit|par|limp|test|aceit|pass|divulg|desativ|forne[çc]|fa[çc]|mostr|apresent)em?"
    r"|(?:mex|escrev|remov|exclu|abr|mov|permit|sub|respond|sobrescrev|inclu|exponh|esque[çc]"
    r"|perc|suj|durm|corr)am?|vá)\b"
)
_PORTUGUESE: Final = (
    _sign(
        "pt",
        "não",
        rf"(?:{_START}|\b(?:por favor|e|ou|mas|que) )não {_PRONOUN}{_NAO}",
        r"\bnão (?:se )?dev(?:e|es|em|emos|eria|eriam)\b",
        r"\b(?:você|vocês|tu|agentes|usuários|utilizadores|nós) não pode(?:m|s|mos)?\b",
        r"\bnão (?:é|são|está|estão|foi) (?:permitid|autorizad|aceitáve)[oail]s?\b",
        r"\bnão se (?:permite|permitem|admite)\b",
    ),
    _sign("pt", "proib", r"\bproibid[oa]s?\b"),
    _sign("pt", "proíb", r"\bproíbem?\b"),
    _sign("pt", "vedad", r"\b(?:é|são|fica|ficam) vedad[oa]s?\b"),
    _sign("pt", "hipótese", r"\bem hipótese (?:alguma|nenhuma)\b"),
    _sign("pt", "alguma", r"\bde (?:forma|modo|maneira) alguma\b"),
    _sign("pt", "nenhum", r"\b(?:em|sob|de) nenhuma? \w+", r"\bnenhuma? (?:[\w-]+ ){1,3}deve\b"),
)

_NON: Final = (
    r"(?:\w{2,}(?:are|ere|ire|arre|urre)\b|\w{2,}(?:ar|er|ir)(?:lo|la|li|le|ne|ci|mi|si|gli)\b"
    r"|(?!avete|siete|sapete|volete|state|estate)\w{2,}(?:ate|ete|ite)(?:lo|la|li|le)?\b"
    r"|(?:tocchi|modifichi|cancelli|usi|utilizzi|esegua|invii|scriva|elimini|faccia|apra|chiuda"
    r"|condivida|pubblichi|riavvii|spenga|cambi|lasci|metta|dica|vada|provi|permetta)\b)"
)
_ITALIAN: Final = (
    _sign(
        "it",
        "non ",
        rf"(?:{_START}|\b(?:per favore|si prega di|e|o|ma) )non {_PRONOUN}{_NON}",
        r"\bnon (?:si )?(?:deve|devi|devono|dovete|dobbiamo|dovrebbe|dovrebbero|dovresti)\b",
        r"\bnon (?:puoi|potete)\b",
        r"\b(?:agenti|utenti|sviluppatori) non possono\b",
        r"\bnon (?:è|sono|sia) (?:permess|consentit|ammess|autorizzat|accettabil)[oaei]\b",
    ),
    _sign(
        "it",
        "mai",
        r"(?<!\bho )(?<!\bhai )(?<!\bha )(?<!\babbiamo )(?<!\bavete )(?<!\bhanno )(?<!\baveva )"
        r"(?<!\bavevano )(?<!\bcome )(?<!\bse )(?<!\bcaso )(?<!\bche )(?<!\bquanto )\bmai\b"
        r"(?! (?:stat|vist|success|arrivat|funzionat)\w\b)",
    ),
    _sign("it", "vietat", r"\bvietat[oaie]\b"),
    _sign("it", "divieto", r"\bdivieto\b"),
    _sign("it", "proibi", r"\bproibit[oaie]\b|\bproibisc(?:e|ono)\b"),
    _sign(
        "it",
        "nessun",
        r"\bin nessun caso\b",
        r"\bper nessun(?:a)? (?:motivo|ragione)\b",
        r"\bnessuna? (?:[\w-]+ ){1,3}(?:deve|può)\b",
    ),
)

_TABLE: Final = (*_ENGLISH, *_FRENCH, *_GERMAN, *_SPANISH, *_PORTUGUESE, *_ITALIAN)
#: A cue that ends with a blank may also stand at the end of a line.
SIGNS: Final = _TABLE + tuple(
    sign._replace(cue=f"{sign.cue[:-1]}\n") for sign in _TABLE if sign.cue.endswith(" ")
)
_ASCII_SIGNS: Final = tuple(sign for sign in SIGNS if sign.cue.isascii())


def forbids(folded: str) -> bool:
    """Whether a folded text holds a negative constraint."""
    signs = _ASCII_SIGNS
    if not folded.isascii():
        signs = SIGNS
        for apostrophe in "’‘ʼ´`":
            folded = folded.replace(apostrophe, "'")
    return any(sign.cue in folded and _found(sign, folded) for sign in signs)


def _found(sign: Sign, folded: str) -> bool:
    pattern = _compiled(sign.pattern)
    at = folded.find(sign.cue)
    while at >= 0:
        match = pattern.search(folded, max(0, at - _REACH), at + _STRIDE + _REACH)
        # A word may have been cut off where the neighbourhood ends: look again without an end.
        if match is not None and pattern.match(folded, match.start()):
            return True
        at = folded.find(sign.cue, at + _STRIDE)
    return False
