// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dra4j.api.device.Taint.Effect;
import io.dra4j.charttest.PagePart;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The effects of errors, as the settings and the page have them. */
class XidEffectsTest {

    private static final Path PAGE = Path.of("../docs-site/reference/nvidia-driver.md");
    private static final long NO_APPLICATION = 79;

    @Test
    void areChosenOneByOne() {
        XidEffects effects = XidEffects.parse(" 48=NoExecute, 063=NoSchedule ,94 = None");

        assertThat(effects.chosen())
                .isEqualTo(Map.of(
                        48L, Effect.NO_EXECUTE,
                        63L, Effect.NO_SCHEDULE,
                        94L, Effect.NONE));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    48 | entry "48" is not of the form XID=EFFECT
                    48=None= | entry "48=None=" is not of the form XID=EFFECT
                    48=None, | entry "" is not of the form XID=EFFECT
                    48=None,,63=None | entry "" is not of the form XID=EFFECT
                    =None | entry "=None" does not begin with the number of an error
                    x48=None | entry "x48=None" does not begin with the number of an error
                    0=None | entry "0=None" does not begin with the number of an error
                    -1=None | entry "-1=None" does not begin with the number of an error
                    99999999999999999999=None | does not begin with the number of an error
                    48= | entry "48=" needs one of the effects None, NoSchedule, NoExecute
                    48=Never | entry "48=Never" needs one of the effects None, NoSchedule, NoExecute
                    48=noexecute | needs one of the effects None, NoSchedule, NoExecute
                    48=None,48=None | entry "48=None" repeats XID 48
                    """)
    void areRefusedIfMalformed(String text, String reason) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> XidEffects.parse(text))
                .withMessageContaining(reason);
    }

    @Test
    void ofIgnoredErrorsOnlyInform() {
        XidEffects effects = XidEffects.parse("48=NoExecute,94=None").ignoring(List.of("94", "95"));

        assertThat(effects.of(95, Optional.of(true))).isEqualTo(Effect.NONE);
        assertThat(effects.of(48, Optional.of(false))).isEqualTo(Effect.NO_EXECUTE);
    }

    @Test
    void byDefaultAreThoseOfThePage() throws IOException {
        String applications =
                XidEffects.OF_APPLICATIONS.stream().map(String::valueOf).collect(Collectors.joining(", "));

        new PagePart(PAGE, "XidEffectsTest")
                .assertIs(
                        "| XID | the driver asks for a recovery | it asks for none | it can't be asked: before R565 |\n"
                                + "|---|---|---|---|\n"
                                + row(applications, XidEffects.OF_APPLICATIONS.get(0))
                                + row("any other", NO_APPLICATION));
        assertThat(XidEffects.OF_APPLICATIONS)
                .allSatisfy(xid ->
                        assertThat(XidEffects.DEFAULT.of(xid, Optional.empty())).isEqualTo(Effect.NONE));
    }

    private static String row(String name, long xid) {
        return "| %s | `%s` | `%s` | `%s` |%n"
                .formatted(
                        name,
                        XidEffects.DEFAULT.of(xid, Optional.of(true)).apiName(),
                        XidEffects.DEFAULT.of(xid, Optional.of(false)).apiName(),
                        XidEffects.DEFAULT.of(xid, Optional.empty()).apiName());
    }
}
