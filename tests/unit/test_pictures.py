"""A picture is what is in it, and nothing else is taken for one."""

from __future__ import annotations

from contextlib import suppress

import pytest

from api.domain.pictures import JPEG, MAX_BYTES, MAX_SIDE, MOST_SCANS, PNG, WEBP, BadPicture, identify_picture
from tests.support.pictures import chunk, make_frame, make_jpeg, make_png, make_webp, make_webp_chunk

SIGNATURE, FRAME = make_png()[:8], make_frame(96, 96)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (make_png(), PNG),
        (make_png(1, MAX_SIDE), PNG),
        (make_jpeg(), JPEG),
        (make_webp(b"VP8X"), WEBP),
        (make_webp(b"VP8L"), WEBP),
        (make_webp(b"VP8 "), WEBP),
    ],
)
def test_three_kinds_are_taken(content: bytes, media_type: str) -> None:
    assert identify_picture(content) == media_type


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "1 to 40960 bytes"),
        (SVG, "PNG, JPEG or WebP"),
        (b"\xef\xbb\xbf" + SVG, "PNG, JPEG or WebP"),
        (b"GIF89a" + bytes(20), "PNG, JPEG or WebP"),
        (b"<!doctype html><script>alert(1)</script>", "PNG, JPEG or WebP"),
        (b" " + make_png(), "PNG, JPEG or WebP"),
        (b"RIFF\x04\x00\x00\x00WAVE", "PNG, JPEG or WebP"),
        (make_png() + b"<script>", "follows"),
        (make_jpeg() + SVG, "follows"),
        (make_webp() + SVG, "follows"),
        (make_png()[:-1], "cut off"),
        (make_png()[:20], "cut off"),
        (make_jpeg()[:20] + b"\x00" + make_jpeg()[21:], "damaged"),
        (make_jpeg().replace(b"\xff\xc0", b"\xff\xe1"), "damaged|cut off"),
        (b"\xff\xd8\xff\xd9", "cut off"),
        (make_webp()[:-3], "cut off"),
        (b"\x89PNG\r\n\x1a\n" + chunk(b"IEND", b""), "damaged"),
        (make_webp(b"VP8 ").replace(b"\x9d\x01\x2a", b"\x00\x00\x00"), "damaged"),
        (make_png(extra=chunk(b"acTL", bytes(8))), "must not move"),
        (make_webp(flags=2), "must not move"),
        (make_png(0, 5), "pixels wide"),
        (make_png(MAX_SIDE + 1, 1), "pixels wide"),
        (make_jpeg(60_000, 60_000), "pixels wide"),
        (make_webp(b"VP8X", 1 << 24, 1 << 24), "pixels wide"),
        (make_png(extra=chunk(b"tEXt", bytes(MAX_BYTES))), "1 to 40960 bytes"),
        (make_jpeg(scans=MOST_SCANS + 1), "scans"),
    ],
)
def test_nothing_else_is(content: bytes, why: str) -> None:
    with pytest.raises(BadPicture, match=why):
        identify_picture(content)


@pytest.mark.parametrize(
    "content",
    [
        make_png(60_000, 60_000)[:-12] + make_png()[8:],
        make_png()[:-12] + make_png(60_000, 60_000)[8:],
        SIGNATURE + chunk(b"tEXt", b"") + make_png()[8:],
        make_jpeg(extra=make_frame(60_000, 60_000)),
        make_jpeg().replace(FRAME, FRAME + make_frame(60_000, 60_000)),
        make_webp(b"VP8X", extra=make_webp(b"VP8L", 16_000, 16_000)[12:]),
        make_webp(b"VP8X", 5000, 5000, extra=make_webp(b"VP8L")[12:]),
        make_webp(b"VP8L", extra=make_webp(b"VP8L", 16_000, 16_000)[12:]),
        make_webp(b"VP8L", extra=make_webp_chunk(b"ANMF", bytes(40))),
        make_webp(b"VP8X", extra=make_webp_chunk(b"EXIF", b"odd")),
    ],
)
def test_a_second_size_that_another_decoder_might_believe_is_refused(content: bytes) -> None:
    with pytest.raises(BadPicture):
        identify_picture(content)


def test_a_canvas_may_say_more_than_its_picture() -> None:
    picture = make_webp(b"VP8L")[12:]
    for extra in (picture + make_webp_chunk(b"EXIF", b"odd"), make_webp_chunk(b"ICCP", b"1") + picture):
        assert identify_picture(make_webp(b"VP8X", extra=extra)) == WEBP
    assert identify_picture(make_jpeg(scans=10)) == JPEG


@pytest.mark.parametrize(("whole", "kind"), [(make_png(), PNG), (make_jpeg(), JPEG), (make_webp(b"VP8L"), WEBP)])
def test_a_picture_that_is_cut_is_refused_and_a_flipped_byte_makes_no_other_kind_of_it(whole: bytes, kind: str) -> None:
    for place in range(len(whole)):
        with pytest.raises(BadPicture):
            identify_picture(whole[:place])
        with suppress(BadPicture):
            assert identify_picture(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]) == kind
