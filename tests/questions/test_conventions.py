"""What a typed line may mean by another convention: base ten, degrees, dates."""

from __future__ import annotations

import pytest

from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.conventions import MAX_LENGTH, check_no_date, unsaid_convention


@pytest.mark.parametrize(
    "text",
    [
        "log(100)",
        "log 1000",
        "pH = -log(1e-7)",
        "pKa = -log(1.8*10^-5)",
        "log(1.8×10⁻⁵)",
        "10*log(P)",
        "20 log(V2/V1), V2=10, V1=1",
        "-log 1e-7",
    ],
)
def test_a_logarithm_of_numbers_is_said_to_be_natural(text: str) -> None:
    note = unsaid_convention(text)
    assert note is not None and "natural" in note.message and "log10" in str(note.hint)


@pytest.mark.parametrize(
    ("text", "degrees"),
    [
        ("sin(30)", 30),
        ("cos 60", 60),
        ("2*tan(-45) + 1", 45),
        ("theta = 30, sin(theta)", 30),
        ("F = 10, θ = 60, F*cos(θ)", 60),
    ],
)
def test_whole_tens_in_radians_are_said_to_be(text: str, degrees: int) -> None:
    note = unsaid_convention(text)
    assert note is not None and note.hint == f"{degrees} degrees are `{degrees}°`"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[1,2],[3,4]]^2", "entries"),
        ("[[1, 2], [3, 4]]**-1", "entries"),
        ("[1,2]*[3,4]", "entries"),
        ("|[3, 4]|", "entries"),
        ("3+4i", "real"),
        ("(3 + 4*i)*2", "real"),
        ("i^2", "real"),
        ("e^(i*pi)", "real"),
        ("exp(-i*w*t)", "real"),
    ],
)
def test_lists_and_imaginary_units_have_notes(text: str, words: str) -> None:
    note = unsaid_convention(text)
    assert note is not None and words in note.message


@pytest.mark.parametrize(
    "text",
    [
        "log(x)",
        "[1,2]@[3,4]",
        "2*i + 3",
        "sum(i^2, i, 1, 3)",
        "x[2] + i",
        "i^2 + 1",
        "log(100)/log(10)",
        "log(8, 2)",
        "log2(8)",
        "log_2 8",
        "ln(100)",
        "xlog(100)",
        "log(2*x)",
        "np.log(100)",
        "sin(2)",
        "sin(31)",
        "sin(30x)",
        "sin(30*x)",
        "sin(30°)",
        "sin 30 degrees",
        "sin(30[deg])",
        "asin(30)",
        "sin(300000)",
        "theta = 1.5, sin(theta)",
        "theta = 30 deg, sin(theta)",
        "t = 30, sin(t)",
        "x^2",
    ],
)
def test_what_has_one_convention_has_no_note(text: str) -> None:
    assert unsaid_convention(text) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2024-01-15", "2024 - 1 - 15"),
        ("2024-01-15 - 2024-01-01", "2024 - 1 - 15"),
        ("12/25/2024", "(12/25)/2024"),
    ],
)
def test_dates_are_refused(text: str, numbers: str) -> None:
    with pytest.raises(ExpressionError, match="is a date") as refused:
        check_no_date(text)
    assert f"`{numbers}`" in str(refused.value.hint)


@pytest.mark.parametrize(
    "text",
    [
        "2024 - 1 - 15",
        "(12/25)/2024",
        "2024-13-15",
        "2024-01-32",
        "x2024-01-15",
        "1e2024-01-15",
        "2024-01-x",
        "12/25/x",
        "y + 1/2/2024",
        "20240-01-15",
    ],
)
def test_differences_and_quotients_are_no_dates(text: str) -> None:
    check_no_date(text)


@pytest.mark.parametrize(
    "piece", [" ", "log(", "log ", "1", "1.", "theta=1", "sin(theta", "10 log "]
)
@pytest.mark.timeout(20)  # a pattern that tries all divisions of 500 characters takes hours
def test_long_texts_come_to_an_end(piece: str) -> None:
    text = f"log({piece * 600}"[:MAX_LENGTH]
    unsaid_convention(text)
    check_no_date(text)
