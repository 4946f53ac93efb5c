"""Does the size report find what has grown large, and only that?"""

from tools.size_report import findings


def test_a_large_function_is_listed_by_what_is_large_about_it() -> None:
    branches = "".join(f"    if a == {number}: b = 1\n" for number in range(51))
    found = findings("x.py", f"def walk(self, a, b, c, d, e, f):\n    '''Docstring.'''\n{branches}")
    assert [(each.measure, each.size) for each in found] == [
        ("lines of function body", 51),
        ("branches", 51),
        ("parameters", 6),
    ]


def test_a_large_module_and_a_large_class_are_listed() -> None:
    found = findings("x.py", "class A:\n" + "    a = 1\n" * 400)
    assert [str(each) for each in found] == [
        "x.py: 401 lines of module (look again above 400)",
        "x.py:1 A: 401 lines of class (look again above 200)",
    ]


def test_what_is_small_enough_is_not_listed() -> None:
    assert findings("x.py", "def walk(self, a, *, b, c, d, e):\n    return [x for x in a if x]\n") == ()
