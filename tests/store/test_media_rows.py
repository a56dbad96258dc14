from __future__ import annotations

import pytest

from proxy.store.media import checked


@pytest.mark.parametrize("body", [True, None, 7, "text", ["id"]])
def test_body_that_is_no_object_is_refused(body: object) -> None:
    with pytest.raises(ValueError, match="no object"):
        checked("image", body)
