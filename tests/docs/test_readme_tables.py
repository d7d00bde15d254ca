from readme_tables import ROOT, filled


def test_every_number_in_the_readme_tables_is_in_a_result_file():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert filled(text) == text, "python tests/docs/readme_tables.py writes the tables again"
