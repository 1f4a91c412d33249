"""Finds places for faults in C++ sources that clang-format has formatted.

The formatting tells what tokens alone do not: a comparison has spaces around it, a template's bracket has not. What is found
wrongly does not compile, and plant.py drops it.
"""
import re

from places import Place, changed_number

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*(?:\\\n[^\n]*)*)
  | (?P<string>(?:u8|[LuU])?R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+')
  | (?P<number>\.?\d(?:[\w.]|'\w|(?<=[eE])[+-])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><=>|<<=|>>=|\.\.\.|->|::|\+\+|--|&&|\|\||==|!=|<=|>=|\+=|-=|\*=|/=|%=|&=|\|=|\^=|[{}()\[\];:,.?~!+\-*/%^&|=<>\#\\@$`])
""", re.VERBOSE | re.MULTILINE | re.DOTALL)

ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
STATEMENT = {";", "{", "}"}
LOWEST = STATEMENT | ASSIGNMENTS | {",", "?", ":", "return", "throw", "co_return", "else", "do", "case", "#", "..."}
LOGICAL = LOWEST | {"||"}
COMPARISON = LOGICAL | {"&&", "<", "<=", ">", ">=", "==", "!=", "<=>", "&", "|", "^"}
ADDITIVE = COMPARISON | {"<<", ">>"}
COMPARED_WRONGLY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
COMPILE_TIME = {"constexpr", "consteval", "constinit", "static_assert", "concept", "requires", "enum", "using", "typedef",
                "template", "alignas", "case", "noexcept", "decltype", "sizeof", "extern"}
OPERAND_LIMIT = 200


class Source:
    """The tokens of a file, with the partner of each bracket."""

    def __init__(self, text):
        self.text = text
        self.words, self.kinds, self.starts, self.ends = [], [], [], []
        self.closing, self.opening, self.partner = {}, {}, {}
        self.tokenize()
        self.match()

    def tokenize(self):
        inactive = []  # for each #if around: whether its branch is for other builds
        for found in TOKEN.finditer(self.text):
            kind, word = found.lastgroup if found.lastgroup != "delimiter" else "string", found.group()
            if kind == "directive":
                follow(inactive, word)
            elif kind != "comment" and not any(inactive):
                self.words.append(word)
                self.kinds.append(kind)
                self.starts.append(found.start())
                self.ends.append(found.end())

    def spaced(self, i):
        """Whether spaces are around a token, so that it is an operator with two operands."""
        return self.text[self.starts[i] - 1].isspace() and self.text[self.ends[i]:self.ends[i] + 1].isspace()

    def match(self):
        stack = []
        pairs = {")": "(", "]": "[", "}": "{", ">": "<"}
        for i, word in enumerate(self.words):
            if word in "<>" and self.spaced(i):
                continue
            if word in "([{" or word == "<" and not self.text[self.ends[i]:self.ends[i] + 1].isspace():
                stack.append(i)
            elif word in pairs:
                if word != ">":
                    while stack and self.words[stack[-1]] == "<":
                        stack.pop()
                if stack and self.words[stack[-1]] == pairs[word]:
                    self.partner[i] = stack[-1]
                    self.partner[stack.pop()] = i

    def is_open(self, i):
        return i in self.partner and self.partner[i] > i

    def is_close(self, i):
        return i in self.partner and self.partner[i] < i

    def stops(self, i, stops):
        return self.words[i] in stops and not (self.words[i] in "<>&" and not self.spaced(i))

    def left(self, i, stops):
        """The first token of the operand that ends before token i."""
        j = i - 1
        while j >= 0:
            if self.is_close(j):
                if self.words[j] == "}" and (self.partner[j] == 0 or self.kinds[self.partner[j] - 1] != "word"):
                    break
                j = self.partner[j] - 1
                continue
            if self.is_open(j) or self.stops(j, stops):
                break
            j -= 1
        return j + 1

    def right(self, i, stops):
        """The last token of the operand that begins after token i."""
        j = i + 1
        while j < len(self.words):
            if self.is_open(j):
                if self.words[j] == "{" and self.kinds[j - 1] != "word" and self.words[j - 1] not in (">", ")", "]"):
                    break
                j = self.partner[j] + 1
                continue
            if self.is_close(j) or self.stops(j, stops):
                break
            j += 1
        return j - 1

    def between(self, first, last):
        return self.text[self.starts[first]:self.ends[last]]

    def statement(self, i):
        """The first token of the statement, or of the head of the block, that token i is in."""
        j = i - 1
        while j >= 0:
            if self.is_close(j) and self.words[j] != "}":
                j = self.partner[j] - 1
                continue
            if self.words[j] in STATEMENT:
                break
            j -= 1
        return j + 1

    def top_level(self, opening, last, word):
        """Where a word stands between two brackets, but not within others."""
        j = opening + 1
        while j < last:
            if self.is_open(j):
                j = self.partner[j]
            elif self.words[j] == word:
                yield j
            j += 1

    def around(self):
        """For each token, the brackets that it is in, innermost last."""
        stack = []
        for i in range(len(self.words)):
            if self.is_close(i) and stack and stack[-1] == self.partner[i]:
                stack.pop()
            yield tuple(stack)
            if self.is_open(i):
                stack.append(i)


def follow(inactive, directive):
    directive = directive.strip()
    if re.match(r"#\s*if", directive):
        cuda = "CUDA" in directive
        negated = re.match(r"#\s*ifndef|#\s*if\s*!", directive) is not None
        inactive.append(cuda and not negated)
    elif re.match(r"#\s*(else|elif)", directive) and inactive:
        inactive[-1] = not inactive[-1]
    elif re.match(r"#\s*endif", directive) and inactive:
        inactive.pop()


def binary(source, i, stops, right_stops, change):
    first, last = source.left(i, stops), source.right(i, right_stops)
    if first >= i or last <= i:
        return None
    left, right = source.between(first, i - 1), source.between(i + 1, last)
    if len(left) + len(right) > OPERAND_LIMIT:
        return None
    operator, faulty = change(left, source.words[i], right)
    whole = f"{left} {source.words[i]} {right}"
    return Place(operator, source.starts[first], source.ends[last], f"(FAULT ? ({faulty}) : ({whole}))", faulty)


def comparisons(source, i):
    word = source.words[i]
    if word not in COMPARED_WRONGLY or not source.spaced(i):
        return
    wrong = COMPARED_WRONGLY[word]
    name = "condition negated" if word in ("==", "!=") else f"{word} to {wrong}"
    yield binary(source, i, COMPARISON, COMPARISON, lambda left, sign, right: (name, f"{left} {wrong} {right}"))


def logical(source, i):
    word = source.words[i]
    if word not in ("&&", "||") or not source.spaced(i):
        return
    wrong = "||" if word == "&&" else "&&"
    stops = LOGICAL if word == "&&" else LOWEST
    yield binary(source, i, stops, stops | {word},
                 lambda left, sign, right: (f"{word} to {wrong}", f"({left}) {wrong} ({right})"))


def arithmetic(source, i):
    word = source.words[i]
    if word not in ("+", "-") or not source.spaced(i):
        return
    wrong = "-" if word == "+" else "+"
    place = binary(source, i, ADDITIVE, ADDITIVE | {"+", "-"},
                   lambda left, sign, right: (f"{word} to {wrong}", f"{left} {wrong} {right}"))
    if place and '"' not in place.faulty and "string" not in place.faulty:
        yield place


def constants(source, i):
    word = source.words[i]
    if word in ("true", "false"):
        other = "false" if word == "true" else "true"
    elif source.kinds[i] == "number":
        other = changed_number(word)
    else:
        return
    if other is None or source.words[i - 1] == "[" or source.text[source.starts[i] - 1] in "<\"":
        return
    if word == "0" and source.words[i - 1] == "=" and source.words[max(i - 2, 0)] in (")", "const", "override"):
        return  # a pure virtual function
    name = "constant changed"
    if source.words[i - 1] == "=" and i + 1 < len(source.words) and source.words[i + 1] == ";":
        name = "initial value changed"
    if source.words[i - 1] == "=" and "for" in (source.words[max(i - 4, 0):i]) and "(" in source.words[max(i - 4, 0):i]:
        name = "loop starts later"
    yield Place(name, source.starts[i], source.ends[i], f"(FAULT ? {other} : {word})", other)


def conditions(source, i):
    if source.words[i] not in ("if", "while", "for") or source.words[i + 1] != "(" or i + 1 not in source.partner:
        return
    last = source.partner[i + 1]
    inside = source.words[i + 2:last]
    condition = source.between(i + 2, last - 1) if inside else ""
    start, end = source.starts[i + 1], source.ends[last]
    if source.words[i] == "for":
        yield from shorter_loops(source, i, last)
    if source.words[i] != "if" or ";" in inside or "=" in inside or not condition or len(condition) > OPERAND_LIMIT:
        return
    yield Place("condition negated", start, end, f"(FAULT != static_cast<bool>({condition}))", f"!({condition})")
    then = source.words[last + 1:last + 3]
    if set(then) & {"return", "throw", "continue", "break"}:
        what = "error path not taken" if "throw" in then else "early return dropped"
    else:
        what = "check dropped"
    yield Place(what, start, end, f"((!FAULT) && ({condition}))", "false")


def shorter_loops(source, i, last):
    """`i < n;` in the head of a loop becomes `i + 1 < n;`."""
    for j in range(i + 2, last):
        if source.words[j] == "<" and source.spaced(j) and source.words[j - 2] == ";" and ";" in source.words[j:last]:
            name = source.words[j - 1]
            yield Place("loop ends early", source.starts[j - 1], source.ends[j - 1], f"({name} + (FAULT ? 1 : 0))",
                        f"{name} + 1")


def calls(source, i):
    """min and max swapped, and arguments in another order."""
    if source.kinds[i] != "word" or i + 1 >= len(source.words):
        return
    opening = i + 1
    if source.words[opening] == "<" and source.is_open(opening):
        opening = source.partner[opening] + 1
    if opening >= len(source.words) or source.words[opening] != "(" or opening not in source.partner:
        return
    last = source.partner[opening]
    whole = source.between(i, last)
    name = source.words[i]
    if len(whole) > OPERAND_LIMIT or name in ("if", "for", "while", "switch", "return", "sizeof", "catch", "operator"):
        return
    first = i
    while source.words[first - 1] in ("::", ".", "->") and source.kinds[first - 2] == "word":
        first -= 2
    if source.words[first - 1] in ("::", ".", "->", "~", "new", "&") or source.kinds[first - 1] == "word" and \
            source.words[first - 1] not in ("return", "else"):
        return
    whole, start = source.between(first, last), source.starts[first]
    swap = {"min": "max", "max": "min", "min_element": "max_element", "max_element": "min_element"}
    if name in swap:
        faulty = whole.replace(name, swap[name], 1)
        yield Place("min and max swapped", start, source.ends[last], f"(FAULT ? {faulty} : {whole})", faulty)
        return
    commas = list(source.top_level(opening, last, ","))
    if len(commas) == 1 and name.islower():
        a, b = source.between(opening + 1, commas[0] - 1), source.between(commas[0] + 1, last - 1)
        if a != b and not set(a + b) & set("[\"{") and not re.search(r"executor|true|false|nullptr|_\(|std::exchange|rounded_product|hypot", whole):
            head = source.between(first, opening)
            yield Place("arguments swapped", start, source.ends[last], f"(FAULT ? {head}{b}, {a}) : {whole})",
                        f"{head}{b}, {a})")


def statements(source, i):
    """A call, an assignment, or an increment that is dropped."""
    if source.words[i - 1] not in STATEMENT or source.kinds[i] not in ("word", "sign") or source.is_close(i):
        return
    j = i
    if source.words[j] in ("++", "--"):
        j += 1
    if source.kinds[j] != "word" or source.words[j] in ("return", "if", "for", "while", "do", "switch", "break", "else",
                                                       "static_assert", "continue", "throw", "delete", "using", "namespace", "friend", "goto"):
        return
    # A name, then no second one: no declaration.
    while source.words[j + 1] in ("::", ".", "->") and source.kinds[j + 2] == "word":
        j += 2
    after = source.words[j + 1]
    end = j
    while end < len(source.words) and source.words[end] != ";":
        if source.words[end] == "{" and source.words[end - 1] == ")":
            return  # a function's definition, or a macro before a block
        end = source.partner[end] + 1 if source.is_open(end) else end + 1
        if end < len(source.words) and source.words[end] == "}":
            return
    if end >= len(source.words):
        return
    whole = source.between(i, end)
    if len(whole) > OPERAND_LIMIT or not (after in ASSIGNMENTS | {"[", "++", "--"} or after == "(" or
                                          source.words[i] in ("++", "--")):
        return
    kind = "statement dropped" if after == "(" else "assignment dropped"
    yield Place(kind, source.starts[i], source.ends[end], f"if (!FAULT) {whole}", "")


FINDERS = (comparisons, logical, arithmetic, constants, conditions, calls, statements)


def find_places(text):
    """All places of a file."""
    source = Source(text)
    for i, around in enumerate(source.around()):
        if i == 0 or i + 3 >= len(source.words) or any(source.words[j] == "<" for j in around):
            continue
        if COMPILE_TIME & set(source.words[source.statement(i):i]):
            continue
        heads = [set(source.words[source.statement(j):j]) for j in around if source.words[j] == "{"]
        if any("enum" in head or "static_assert" in head for head in heads):
            continue
        compiled = any({"constexpr", "consteval"} & head for head in heads)
        for finder in FINDERS:
            if finder is statements and (not around or source.words[around[-1]] != "{" or
                                         heads[-1] & {"class", "struct", "namespace", "union"}):
                continue
            for place in finder(source, i):
                if place is not None and place.template.count("\n") < 6 and "kCudaBackend" not in place.template:
                    yield Place(place.operator, place.start, place.end, place.template, place.faulty, compiled)
