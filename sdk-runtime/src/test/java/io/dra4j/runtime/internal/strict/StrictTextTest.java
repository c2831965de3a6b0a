// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.strict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.Quantity;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same mistakes are errors in JSON and in YAML. */
class StrictTextTest {

    record Form(int count, String name, Quantity limit) {}

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"count\": 1, \"size\": 2}",
                "{\"count\": 1, \"count\": 1}",
                "{\"count\": 1} {\"count\": 1}",
                "{\"count\": null}",
                "{\"count\": \"1\"}",
                "{\"count\": 1.0}",
                "{\"count\": true}",
                "{\"name\": 1, \"count\": 1}",
                "{\"name\": true, \"count\": 1}",
                "{\"limit\": \"\", \"count\": 1}",
                "[1]",
                "{"
            })
    void aMistakeIsAnError(String text) {
        assertThatThrownBy(() -> StrictText.json(text, Form.class)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> StrictText.yaml(text, Form.class)).isInstanceOf(IOException.class);
    }

    @Test
    void aQuantityMayBeANumber() throws Exception {
        Form form = new Form(1, "a", new Quantity("5"));

        assertThat(StrictText.json("{\"count\":1,\"name\":\"a\",\"limit\":5}", Form.class))
                .isEqualTo(form);
        assertThat(StrictText.yaml("count: 1\nname: a\nlimit: \"5\"\n", Form.class))
                .isEqualTo(form);
    }

    @Test
    void nothingIsNull() throws Exception {
        assertThat(StrictText.json("null", Form.class)).isNull();
        assertThat(StrictText.yaml("# none\n---\n", Form.class)).isNull();
        assertThat(StrictText.yaml("", Form.class)).isNull();
        assertThat(StrictText.yaml("# none\n", Form.class)).isNull();
    }
}
