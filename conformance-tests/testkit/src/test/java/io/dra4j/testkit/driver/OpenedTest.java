// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenedTest {

    private final List<String> ended = new ArrayList<>();

    private void fail(String part) {
        ended.add(part);
        throw new IllegalStateException(part);
    }

    @Test
    void endsAllPartsInReverseEvenIfSomeFail() {
        Opened opened = new Opened();
        opened.open(() -> "server", ended::add);
        opened.onEnd(() -> fail("proxy"));
        opened.onEnd(() -> fail("kubelet"));
        assertThat(opened.open(() -> "driver", ended::add)).isEqualTo("driver");
        assertThatThrownBy(() -> opened.change(() -> fail("change"), () -> fail("undo")))
                .hasSuppressedException(new IllegalStateException("undo"));

        assertThatThrownBy(opened::close)
                .hasMessage("kubelet")
                .hasSuppressedException(new IllegalStateException("proxy"));

        opened.onEnd(() -> ended.add("late"));
        opened.close();
        assertThat(ended).containsExactly("change", "undo", "driver", "kubelet", "proxy", "server", "late");
        assertThatThrownBy(() -> opened.open(() -> "other", ended::add)).hasMessage("The node was closed");
    }
}
