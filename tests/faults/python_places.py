"""Finds places for faults in Python scripts, in their syntax trees."""
import ast

from places import Place, changed_number

COMPARED_WRONGLY = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in",
                    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}

# The switch, for every script by itself: gdb and the distribution's Python run them, too.
PRELUDE = '''
def dynasoar_fault(number, seen=set()):
    import mmap
    import os
    path = os.environ.get("DYNASOAR_FAULTS_REACHED")
    if path and number not in seen:
        seen.add(number)
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as reached:
            if number < len(reached):
                reached[number] = 1
    return os.environ.get("DYNASOAR_FAULT") == str(number)


'''


class Finder(ast.NodeVisitor):
    def __init__(self, text):
        self.text = text
        self.places = []
        self.line_starts = [0]
        for line in text.splitlines(keepends=True):
            self.line_starts.append(self.line_starts[-1] + len(line.encode()))
        self.bytes = text.encode()

    def offset(self, line, column):
        return len(self.bytes[:self.line_starts[line - 1] + column].decode())

    def span(self, node):
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def source(self, node):
        start, end = self.span(node)
        return self.text[start:end]

    def replace(self, operator, node, faulty):
        start, end = self.span(node)
        self.places.append(Place(operator, start, end, f"(({faulty}) if FAULT else ({self.text[start:end]}))", faulty))

    def visit_JoinedStr(self, node):
        pass  # positions in it are wrong before Python 3.12

    def visit_Compare(self, node):
        if len(node.ops) == 1 and type(node.ops[0]) in COMPARED_WRONGLY:
            sign = COMPARED_WRONGLY[type(node.ops[0])]
            faulty = f"({self.source(node.left)}) {sign} ({self.source(node.comparators[0])})"
            boundary = sign in ("<", "<=", ">", ">=")
            self.replace(f"boundary: {sign}" if boundary else "condition negated", node, faulty)
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        sign = "or" if isinstance(node.op, ast.And) else "and"
        self.replace(f"becomes {sign}", node, f" {sign} ".join(f"({self.source(value)})" for value in node.values))
        self.generic_visit(node)

    def visit_BinOp(self, node):
        texts = [self.source(node.left), self.source(node.right)]
        if isinstance(node.op, (ast.Add, ast.Sub)) and not any(sign in part for part in texts for sign in "\"'["):
            sign = "-" if isinstance(node.op, ast.Add) else "+"
            self.replace(f"becomes {sign}", node, f"({texts[0]}) {sign} ({texts[1]})")
        self.generic_visit(node)

    def visit_If(self, node):
        test = self.source(node.test)
        self.replace("condition negated", node.test, f"not ({test})")
        first = node.body[0]
        what = ("error path not taken" if isinstance(first, ast.Raise) else
                "early return dropped" if isinstance(first, (ast.Return, ast.Continue, ast.Break)) else "check dropped")
        self.replace(what, node.test, "False")
        self.generic_visit(node)

    def visit_IfExp(self, node):
        self.replace("condition negated", node.test, f"not ({self.source(node.test)})")
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            self.replace("constant changed", node, str(not node.value))
        elif isinstance(node.value, (int, float)):
            other = changed_number(self.source(node))
            if other:
                self.replace("constant changed", node, other)

    def visit_Call(self, node):
        swap = {"min": "max", "max": "min", "any": "all", "all": "any"}
        if isinstance(node.func, ast.Name) and node.func.id in swap:
            self.replace("min and max swapped", node, self.source(node).replace(node.func.id, swap[node.func.id], 1))
        elif len(node.args) == 2 and not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args):
            a, b = (self.source(argument) for argument in node.args)
            if a != b and not isinstance(node.func, ast.Attribute):
                self.replace("arguments swapped", node, f"{self.source(node.func)}({b}, {a})")
        if isinstance(node.func, ast.Name) and node.func.id == "sorted":
            self.replace("order dropped", node, f"list({self.source(node.args[0])})")
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call):
            start, end = self.span(node)
            whole = self.text[start:end]
            self.places.append(Place("statement dropped", start, end, f"({whole}) if not FAULT else None", ""))
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Assign(self, node):
        if isinstance(node.targets[0], (ast.Subscript, ast.Attribute)):
            start, end = self.span(node)
            whole = self.text[start:end]
            if "\n" not in self.text[self.text.rfind("\n", 0, start) + 1:start].strip():
                self.places.append(Place("assignment dropped", start, end, f"if not FAULT: {whole}", ""))
        self.generic_visit(node)

    def visit_arguments(self, node):
        pass  # defaults are evaluated once; options are constants in calls


def find_places(text):
    finder = Finder(text)
    finder.visit(ast.parse(text))
    return finder.places


def with_switch(text):
    """The script with the switch's function before its first statement."""
    body = ast.parse(text).body
    first = next(node for node in body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) and not (
        isinstance(node, ast.ImportFrom) and node.module == "__future__"))
    line = min([first.lineno] + [decorator.lineno for decorator in getattr(first, "decorator_list", [])])
    lines = text.splitlines(keepends=True)
    return "".join(lines[:line - 1]) + PRELUDE.lstrip("\n") + "".join(lines[line - 1:])
