import pytest
from readme_tables import PAGES, filled


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_number_in_the_tables_is_in_a_result_file(page):
    assert filled(page) == page.read_text(encoding="utf-8"), (
        "python tests/docs/readme_tables.py writes the tables again"
    )
