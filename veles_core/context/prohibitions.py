"""The table of negative constraints: what makes a cue word of six languages a prohibition.

Not every negation is one: "do not merge" is, "the file does not exist" isn't. An order
stands at the start of a clause, a statement has its subject there; a modal verb, or a
participle such as "forbidden", makes a statement an order.
"""

from typing import Final, NamedTuple


class Prohibition(NamedTuple):
    """One way in which a cue forbids.

    ``after`` is a pattern that matches from the cue on, ``before`` one for the text right
    before it (empty: any), and ``last`` what that must end with, as a cheap first look.
    Patterns see folded text with straight apostrophes; a blank is any whitespace.
    """

    after: str
    before: str = ""
    last: tuple[str, ...] = ()


_Rows = tuple[Prohibition, ...]


def _word(*patterns: str) -> _Rows:
    """A cue that needs nothing before it."""
    return tuple(Prohibition(pattern) for pattern in patterns)


#: Where a clause begins.
_START: Final = r"(?:\A|\n|[^\w\s'])\s*+(?:\d+[.)] )?"

# English

_AGENT: Final = (
    r"\b(?:you|we|they|nobody|one|(?:sub)?agents?|users?|clients?|developers?|contributors?"
    r"|reviewers?|engineers?|assistants?|models?|bots?|callers?|members?|employees?|admins?"
    r"|operators?|customers?|people|humans|staff|maintainers?|interns?)"
)
_REASONING: Final = r"(?<!\bif )(?<!\bwhen )(?<!\bwhy )(?<!\bsince )(?<!\bwhat )(?<!\bbecause )"
_ORDER: Final = (
    rf"(?:{_START}|\b(?:please|and|or|but|then|so|just|also|simply|kindly|therefore|ever) )"
)
#: Verbs of a statement about what is, rather than of an order.
_STATE: Final = (
    r"(?! (?:have|need|know|think|believe|worry|mind|matter|exist|seem|appear|care|understand"
    r"|recall|remember|hesitate|see|find|want|like|expect|agree|mean|depend|belong|support"
    r"|reproduce|tell|explain|confirm|determine|afford|imagine|connect|reach|log in|sign in"
    r"|match|pass|fit|load|compile|respond|answer|happen|be|get|notice|lose)\b)"
)
#: What is no order even where one could stand.
_IDLE: Final = (
    r"(?! (?:have to|need|know|think|believe|worry|mind|matter|exist|seem|hesitate|care)\b)"
)
#: What makes a modal verb a guess.
_MAYBE: Final = (
    r"(?! (?:work|exist|matter|apply|need|happen|take long|have been|always|even"
    r"|be (?:possible|necessary|needed|required|available|enough|obvious|true|surprising|hard"
    r"|too|(?:an?|the) (?:problem|issue|case)))\b)"
)
_MODALS: Final = ("must", "should", "shall", "may", "ought")
_MODAL_ADVERB: Final = r"\b(?:must|should|shall|may|ought) (?:\w+ly|also|still) "
_PAST: Final = (
    r"(?!need|\w*ceed|embed|feed|seed|shed|speed|shred)\w{2,}ed|ran|came|went|saw|got|made"
    r"|took|found|knew|thought|began|gave|left|lost|met"
    r"|sent|told|heard|wrote|was|were|had|did|became|built|broke|felt"
)
_HAPPENS: Final = (
    r"expires|returns|terminates|ends|happens|occurs|reaches|completes|finishes|fires"
    r"|stops|fails|works|matches|changes|arrives|comes|rains|exists|gets"
)
#: Words in -ing that name no activity.
_NO_ACTIVITY: Final = (
    r"(?!(?:no|some|any|every)?thing|string|setting|meaning|(?:w|k|r|br|spr)ing\b|being|warning"
    r"|pending|remaining|existing|missing|matching|outstanding|conflicting|failing|running"
    r"|corresponding|breaking|following|timing|understanding|evening|morning|building|feeling"
    r"|meeting|encoding|heading|padding|rating|training|waiting|incoming|outgoing|ongoing"
    r"|overlapping|blocking|trailing|leading|working|finding|listing|mapping|binding)"
)

_ENGLISH: Final[dict[str, _Rows]] = {
    "never": (
        Prohibition(
            r"never\b",
            r"\b(?:is|are|be|must|should|shall|may|can|will|to|you) ",
            ("is", "are", "be", *_MODALS, "can", "will", "to", "you"),
        ),
        Prohibition(
            r"(?<!\bhas )(?<!\bhave )(?<!\bhad )(?<!'ve )(?<!'d )(?<!\bwas )(?<!\bwere )(?<!\bi )"
            rf"(?<!\bthan )(?<!\balmost )\bnever\b(?! (?:mind|before|{_PAST}|{_HAPPENS})\b)",
        ),
    ),
    "not": (
        Prohibition(rf"not\b{_MAYBE}", last=_MODALS),
        Prohibition(rf"not\b{_MAYBE}", _MODAL_ADVERB, ("ly", "also", "still")),
        Prohibition(rf"not\b{_IDLE}", rf"{_ORDER}do ", ("do",)),
        Prohibition(rf"not\b{_STATE}", rf"{_REASONING}{_AGENT} (?:do|can)\s*", ("do", "can")),
        Prohibition(rf"not\b{_STATE}", rf"{_REASONING}\byou will ", ("will",)),
        Prohibition(
            r"not to\b",
            r"\b(?:sure|careful|care|remember|try|asked|told|instructed"
            r"|advised|warned) ",
            ("re", "ful", "er", "ry", "ed", "ld"),
        ),
        Prohibition(r"not to (?:be )?(?!blame|mention|say)\w", last=(" is", " are")),
        Prohibition(r"not\b", last=("let's", "let us", " better")),
        *_word(
            r"(?<!\boperation )(?<!\bmethod )\bnot (?:be )?(?:allowed|permitted|acceptable)\b",
            r"\bnot (?:supposed|okay|ok) to\b",
        ),
        Prohibition(r"nothing (?:may|must|should|shall)\b"),
    ),
    "n't": (
        Prohibition(rf"n't\b{_MAYBE}", last=("must", "should", "sha", "may", "ought")),
        Prohibition(rf"n't\b{_IDLE}", rf"{_ORDER}do", ("do",)),
        Prohibition(rf"n't\b{_STATE}", rf"{_REASONING}{_AGENT} (?:do|ca)", ("do", "ca")),
        Prohibition(
            r"n't (?:allowed|permitted|acceptable|supposed to|ok to|okay to|to be)\b",
            last=("is", "are"),
        ),
    ),
    "dont": (Prohibition(rf"dont\b{_IDLE}", _ORDER),),
    "avoid": (
        Prohibition(r"avoid\b", rf"(?:{_START}(?:(?:please|always|also) )?|\bplease )"),
        Prohibition(
            r"avoid(?:ed)?\b",
            r"\b(?:must|should|shall|needs? to|ha(?:ve|s) to|to be)(?: always)?(?: be)? ",
        ),
    ),
    "forbid": _word(
        r"(?<!\b403 )(?<!\b403: )(?<!\bhttp )\bforbidden\b(?! (?:error|response|status))",
        r"\bforbids?\b",
    ),
    "disallow": _word(r"\bdisallow(?:s|ed)?\b"),
    "refrain": _word(r"\brefrain from\b"),
    "limits": (Prohibition(r"limits\b", r"\boff[ -]"),),
    "nobody": _word(r"\bnobody (?:may|must|should|shall|is allowed|is to)\b"),
}

# French

_NE_PAS: Final = rf"(?:{_START}|\b(?:et|ou|mais|donc|surtout|veuillez|merci de|prière de) )"
_FRENCH: Final[dict[str, _Rows]] = {
    "jamais": _word(
        r"(?<!'ai )(?<!'as )(?<!'a )(?<!'avons )(?<!'avez )(?<!'ont )(?<!'avait )(?<!'avaient )"
        r"(?<!\bsi )(?<!\bà )(?<!\bque )\bjamais\b"
        r"(?! (?:vu|été|eu|je n'ai|il n'a|(?:venu|arrivé|parti|tombé|allé)e?s?)\b)",
    ),
    "pas": (
        Prohibition(r"pas\b", rf"{_NE_PAS}ne (?:surtout )?"),
        Prohibition(
            r"pas\b",
            rf"{_NE_PAS}(?:ne |n')(?:(?:me|te|le|la|les|lui|leur|y|en|se|vous|nous) |l')?"
            r"(?!\w+ant )\w+(?:-\w+)? (?:surtout )?",
        ),
        Prohibition(
            r"pas\b",
            r"(?:\bne |\bn')(?:doi[st]|doivent|dev(?:ez|ons|rai[st]|raient|riez)|faut|faudrait)"
            r" (?:\w+ )?",
        ),
        Prohibition(
            r"pas\b",
            r"\b(?:vous|tu|nous|on|agents|utilisateurs) ne (?:pouvez|peux|peut|peuvent|pouvons) ",
        ),
        Prohibition(
            r"pas (?:permis|autorisé|admis|toléré|censé)(?:e|s|es)?\b",
            r"\b(?:n'est|ne sont|n'es|n'êtes) ",
        ),
        Prohibition(
            r"pas d(?:e |')(?!problème|souci|quoi|panique|erreur|résultat|chance|réponse)\w",
            _START,
        ),
    ),
    "interdi": _word(r"\binterdi(?:t|te|ts|tes|sons|sez|sent|re)\b"),
    "proscri": _word(r"\bproscri(?:t|te|ts|tes|re)\b"),
    "défen": _word(r"\bdéfense de (?!thèse)\w", r"\bdéfendue?s? d(?:e |')"),
    "aucun": (
        Prohibition(r"aucun (?:cas|prétexte)\b", last=("en", "dans", "sous")),
        *_word(r"\baucune? (?:[\w'-]+ ){1,5}ne (?:doit|peut|devrait)\b"),
    ),
    "évite": (
        Prohibition(r"évite[rz]?\b", rf"(?:{_START}|\b(?:et|surtout|veuillez) )"),
        Prohibition(r"éviter\b", r"\b(?:à|faut|dois|doit|doivent|devez) "),
    ),
}

# German

#: A modal verb; its first letter leads, so that a search for it can leap.
_SOLL: Final = r"(?:d(?<!\wd)(?:arf|arfst|ürfen|ürft)|s(?<!\ws)oll(?:st|en|t|te|ten|test|tet)?)\b"
_TU: Final = (
    r"(?:lösche|ändere|committe|pushe|merge|verwende|benutze|nutze|starte|stoppe|führe|schreibe"
    r"|überschreibe|lies|teile|sende|schicke|veröffentliche|deploye|bearbeite|berühre|fasse?"
    r"|speichere|gib|gehe?|mache?|tu|nimm|setze|entferne|installiere|rufe|logge|öffne"
    r"|schliesse|verlasse|vergiss|aktualisiere|verschiebe|kopiere|erstelle|füge|greife"
    r"|vertraue|ignoriere|umgehe|deaktiviere|aktiviere|ersetze|antworte|frage|sprich|warte|brich"
    r"|zeige|verrate|protokolliere|drücke|klicke|rühre|lasse?|baue|trage|leite|hänge)"
)
_SIE: Final = r"(?!haben|können|sind|werden|wollen|wissen|müssen|wenn|dass)\w+e?n sie\b"
_IMPERATIVE: Final = rf"{_START}(?:bitte )?(?:{_TU}|{_SIE})\s(?:[^.!?;,]*\s)?"
_GERMAN: Final[dict[str, _Rows]] = {
    "nicht": (
        Prohibition(r"\bnicht\b(?! (?:passieren|vorkommen))", rf"{_SOLL}[^.!?;]*"),
        Prohibition(rf"\bnicht\b[^.!?;]{{0,60}}?{_SOLL}"),
        Prohibition(
            r"\bnicht\b",
            r"\b(?:du|sie|ihr|wir|man|agenten|nutzer|benutzer) (?:kannst|können|könnt|kann)\b"
            r"[^.!?;]*",
        ),
        Prohibition(r"\bnicht (?:erlaubt|gestattet|zulässig|zugelassen|genehmigt)\b"),
        Prohibition(r"nicht\b", _IMPERATIVE),
        Prohibition(r"\bnicht\b", r"\bbitte\b[^.!?;,]*"),
        Prohibition(
            r"nicht (?!nur|alle|jede|mehr|so|ganz|immer|zuletzt|selten|weit|einmal|ge\w+en\b"
            r"|vorhanden|bestanden|verbunden)[^.!?;\n]{0,60}?\w(?:en|ern|eln)\b",
            _START,
        ),
    ),
    "nie": _word(
        r"(?<!\bhat )(?<!\bhabe )(?<!\bhaben )(?<!\bhatte )(?<!\bhatten )(?<!\bwar )(?<!\bwaren )"
        r"(?<!\bnoch )(?<!\bwie )(?<!\bist )(?<!\bwurde )(?<!\bwurden )\bnie(?:mals)?\b(?! zuvor)",
    ),
    "kein": (
        Prohibition(r"\bkeine?[nmrs]?\b(?! problem)", rf"{_SOLL}[^.!?;]*"),
        Prohibition(r"kein(?:en fall|em fall|en umständen)\b", last=("auf", "in", "unter")),
        *_word(r"\bkeinesfalls\b"),
        Prohibition(r"keine?[nmrs]?\b", _IMPERATIVE),
        Prohibition(
            r"keine?[nmrs]? [^.!?;\n]{1,60}?\s(?!ge\w+en\b|vorhanden|worden|werden|haben"
            r"|bestehen|können|wurden|waren)\w{2,}(?:en|ern|eln)\s*(?:[.!;\n]|\Z)",
            rf"{_START}(?:bitte )?",
        ),
    ),
    "verb": _word(r"\bverboten\b", r"\bverbiete[nt]\b"),
    "untersagt": _word(r"\buntersagt\b"),
    "unterlass": _word(r"\bunterlass(?:e|en|t)\b"),
    "verm": (
        Prohibition(r"vermeide[nt]?\b", rf"{_START}(?:bitte )?"),
        Prohibition(r"vermeiden\b", last=(" zu",)),
        *_word(r"\bvermieden werden\b"),
    ),
    "unzulässig": _word(r"\bunzulässig\b"),
}

# Spanish, Portuguese and Italian

_CLITIC: Final = r"(?:(?:me|te|se|lo|la|los|las|le|les|nos|o|a|os|as|ci|vi|mi|ti|si|gli|ne) )?"
_NO_HAGAS: Final = (
    r"(?:\w{2,}(?:ar|er|ir)(?:lo|la|los|las|le|les|se|me|te|nos)?"
    r"|(?!techni|uni|lea|va|ton|dialo|catalo|collea)\w+(?:qu|gu)e[ns]?"
    r"|(?:ha|ten|pon|di|ven|sal|trai)ga[ns]?|confundas?|(?:ignor|complet|retir)es"
    r"|(?:utilic|borr|cambi|ejecut|env[ií]|elimin|reinici|cierr|instal|actualic|dej|intent"
    r"|olvid|conf[ií]|revel|fusion|edit|avanc|acept|guard|grab|llam|mand|desactiv|coment"
    r"|mezcl|lanc|cre|almacen|reutilic|pas|par|salt|quit|mir)e[ns]?|copien?"
    r"|(?:escrib|sub|compart|abr|muev|permit|vay|respond|le|sobrescrib|met|romp|corr|expong"
    r"|incluy|destruy|construy)a[ns]?"
    r"|us(?:e|es|en) (?:el|la|l[oa]s|un|una|est[aeo]s?|es[aeo]s?|tus?|sus?|mis?|nada|otr[oa]s?"
    r"|ning\w+|variables|contraseñas))\b"
)
_NAO_FACA: Final = (
    r"(?:\w{2,}(?:ar|er|ir|or)(?:-\w+)?|\w+(?:qu|gu)em?|(?:fa[çc]|dig|ponh|tenh|venh)am?"
    r"|(?:us|utiliz|alter|mud|execut|envi|delet|compartilh|reinici|fech|copi|instal|atualiz|deix"
    r"|tent|confi|revel|mescl|edit|cri|adicion|ignor|grav|salv|forc|rod|cham|armazen|registr"
    r"|guard|commit|par|limp|test|aceit|pass|divulg|desativ|mostr|apresent)em?"
    r"|(?:mex|escrev|remov|exclu|abr|mov|permit|sub|respond|sobrescrev|inclu|exponh|esque[çc]"
    r"|perc|suj|corr|forne[çc])am?|vá)\b"
)
_NON_FARE: Final = (
    r"(?:\w{2,}(?:are|ere|ire|arre|urre)\b|\w{2,}(?:ar|er|ir)(?:lo|la|li|le|ne|ci|mi|si|gli)\b"
    r"|(?!avete|siete|sapete|volete|state|estate)\w{2,}(?:ate|ete|ite)(?:lo|la|li|le)?\b"
    r"|(?:tocchi|modifichi|cancelli|usi|utilizzi|esegua|invii|scriva|elimini|faccia|apra|chiuda"
    r"|condivida|pubblichi|riavvii|spenga|cambi|lasci|metta|dica|vada|provi|permetta)\b)"
)
_SPANISH: Final[dict[str, _Rows]] = {
    "jamás": _word(r"\bjamás\b(?! (?:ha|he|han|hemos|había|vi|fue)\b)"),
    "prohíb": _word(r"\bprohíben?\b"),
    "ning": (
        Prohibition(r"ningún (?:caso|momento)\b", last=("en",)),
        Prohibition(r"ning[uú]na? \w", last=("bajo",)),
        Prohibition(r"ninguna (?:manera|forma)\b", last=("de",)),
        *_word(r"\bning[uú]na? (?:[\w-]+ ){1,3}(?:debe|puede)\b"),
    ),
}
_PORTUGUESE: Final[dict[str, _Rows]] = {
    "não": (
        Prohibition(rf"não {_CLITIC}{_NAO_FACA}", rf"(?:{_START}|\b(?:por favor|e|ou|mas|que) )"),
        Prohibition(
            r"não pode(?:m|s|mos)?\b",
            r"\b(?:você|vocês|tu|agentes|usuários|utilizadores|nós) ",
        ),
        *_word(
            r"não (?:se )?dev(?:e|es|em|emos|eria|eriam)\b",
            r"não (?:é|são|está|estão|foi) (?:permitid|autorizad|aceitáve)[oail]s?\b",
            r"não se (?:permite|permitem|admite)\b",
        ),
    ),
    "proíb": _word(r"\bproíbem?\b"),
    "vedad": (Prohibition(r"vedad[oa]s?\b", last=("é", "são", "fica", "ficam")),),
    "alguma": (Prohibition(r"alguma\b", last=("hipótese", "de forma", "de modo", "de maneira")),),
    "nenhum": (
        Prohibition(r"nenhuma? \w", last=(" em", " sob", " de")),
        *_word(r"\bnenhuma? (?:[\w-]+ ){1,3}deve\b"),
    ),
}
_ITALIAN: Final[dict[str, _Rows]] = {
    "non ": (
        Prohibition(
            rf"non {_CLITIC}{_NON_FARE}",
            rf"(?:{_START}|\b(?:per favore|si prega di|e|o|ma) )",
        ),
        Prohibition(r"non possono\b", last=("agenti", "utenti", "sviluppatori")),
        *_word(
            r"\bnon (?:si )?(?:deve|devi|devono|dovete|dobbiamo|dovrebbe|dovrebbero|dovresti)\b",
            r"\bnon (?:puoi|potete)\b",
            r"\bnon (?:è|sono|sia) (?:permess|consentit|ammess|autorizzat|accettabil)[oaei]\b",
        ),
    ),
    "mai": _word(
        r"(?<!\bho )(?<!\bhai )(?<!\bha )(?<!\babbiamo )(?<!\bavete )(?<!\bhanno )(?<!\baveva )"
        r"(?<!\bavevano )(?<!\bcome )(?<!\bse )(?<!\bcaso )(?<!\bche )(?<!\bquanto )\bmai\b"
        r"(?! (?:stat|vist|success|arrivat|funzionat)\w\b)",
    ),
    "viet": _word(r"\bvietat[oaie]\b"),
    "divieto": _word(r"\bdivieto\b"),
    "nessun": (
        Prohibition(r"nessun caso\b", last=("in",)),
        Prohibition(r"nessuna? (?:motivo|ragione)\b", last=("per",)),
        *_word(r"\bnessuna? (?:[\w-]+ ){1,3}(?:deve|può)\b"),
    ),
}

# Cues that several languages share

_SHARED: Final[dict[str, _Rows]] = {
    "no ": (
        Prohibition(rf"no {_NO_ACTIVITY}\w+ing\b", _START),
        Prohibition(r"no (?:circumstances?|case|event|situation)\b", last=("under", "in")),
        Prohibition(r"no account\b", last=("on",)),
        Prohibition(r"no (?:time|point) (?:may|must|should|shall|can)\b", last=("at",)),
        Prohibition(
            rf"no {_CLITIC}{_NO_HAGAS}",
            rf"(?:{_START}|\b(?:por favor|y|o|pero|que) ){_CLITIC}",
        ),
        Prohibition(r"no puedes\b", _START),
        Prohibition(
            r"no (?:puede|puedes|pueden|podemos)\b",
            r"\b(?:tú|usted|ustedes|agentes|usuarios|nosotros) ",
        ),
        *_word(
            r"\bno one (?:may|must|should|shall|is allowed|is to)\b",
            r"\bno (?:[\w-]+ ){1,3}(?:may|must|shall|should)\b",
            r"\bno (?:se )?deb(?:e|es|en|éis|emos|ería|erías|erían)\b",
            r"\bno (?:está|están|es|son|fue|queda) (?:permitid|autorizad|aceptable)[oae]?s?\b",
            r"\bno se (?:permite|permiten|admite|admiten|autoriza)\b",
            r"\bno hay que\b",
        ),
    ),
    "nunca": _word(
        r"(?<!\bha )(?<!\bhe )(?<!\bhan )(?<!\bhabía )(?<!\bcasi )(?<!\bque )(?<!\btinha )"
        r"(?<!\bquase )\bnunca\b(?! (?:ha|he|han|hemos|había|habían|antes|vi|fue|fueron|llegó|pasó"
        r"|foi|foram|houve|tinha|aconteceu|chegou|funcionó|funcionou|tive|terminó|terminou)\b)",
    ),
    "prohib": _word(
        r"\bprohibit(?:s|ed)?\b", r"\bprohib(?:id[oa]s?|en|ir|imos)\b", r"\bprohibée?s?\b"
    ),
    "proib": _word(r"\bproibid[oa]s?\b", r"\bproibit[oaie]\b", r"\bproibisc(?:e|ono)\b"),
    "evit": (
        Prohibition(
            r"evit(?:a|e|en|em|ar|are|ate|i|emos)\b",
            rf"(?:{_START}|\b(?:por favor|y|e|sempre|siempre) )",
        ),
        Prohibition(r"evitar(?:e|se)?\b", r"\b(?:debe|deben|hay que|deve|devem|da|a) (?:se )?"),
    ),
}

#: The rows of each cue, a literal substring of folded text.
PROHIBITIONS: Final[dict[str, _Rows]] = (
    _ENGLISH | _FRENCH | _GERMAN | _SPANISH | _PORTUGUESE | _ITALIAN | _SHARED
)
