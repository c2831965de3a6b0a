// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class VerdictPageTest {

    private enum Verdict {
        PASS,
        NOT_APPLICABLE
    }

    private static final Map<String, Verdict> FIRST = Map.of("cdi.DRA-CDI-01", Verdict.PASS);

    private static final String PAGE = """
            # A driver
            <!-- whole -->

            | profile | verdict | | requirements |
            |---|---|---|---|
            | cdi | not applicable, pass | 1 | [DRA-CDI-02](requirements.md#dra-cdi-02) |
            | cdi | pass | 1 | [DRA-CDI-01](requirements.md#dra-cdi-01) |

            <!-- /whole -->
            """;

    private static String after(String run, Map<String, Verdict> found) {
        return new VerdictPage(Path.of("page.md"), any -> true).after(PAGE, run, found);
    }

    @Test
    void staysAsItIsAfterARunThatFoundTheSame() {
        Map<String, Verdict> found = Map.of(
                "cdi.DRA-CDI-01", Verdict.PASS,
                "cdi.DRA-CDI-02[v1]", Verdict.PASS,
                "cdi.DRA-CDI-02[v1beta1]", Verdict.NOT_APPLICABLE);

        assertThat(after("whole", found)).isEqualTo(PAGE);
    }

    @Test
    void hasTheVerdictThatWasFound() {
        assertThat(after("whole", Map.of("cdi.DRA-CDI-02", Verdict.PASS)))
                .contains("| cdi | pass | 2 | [DRA-CDI-01]")
                .doesNotContain("not applicable");
    }

    @Test
    void losesWhatTheCatalogueDoesNotHave() {
        VerdictPage page = new VerdictPage(Path.of("page.md"), "DRA-CDI-01"::equals);

        assertThat(page.after(PAGE, "whole", FIRST)).contains("DRA-CDI-01").doesNotContain("DRA-CDI-02");
    }
}
