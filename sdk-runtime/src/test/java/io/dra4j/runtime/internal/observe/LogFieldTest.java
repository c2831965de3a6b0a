// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class LogFieldTest {

    @Test
    void everyKeyIsItsNameInLowerCaseWithDots() {
        assertThat(LogField.values())
                .allSatisfy(field -> assertThat(field.toString()).matches("[a-z]+(\\.[a-z]+)*"));
        assertThat(LogField.CLAIM_UID).hasToString("claim.uid");
    }

    @Test
    void noTwoFieldsShareAKey() {
        assertThat(Arrays.stream(LogField.values()).map(LogField::toString))
                .doesNotHaveDuplicates();
    }

    @Test
    void theReferencePageSaysWhatEachFieldHolds() throws IOException {
        ReferencePage.named("log-fields.md")
                .assertEndsWith(
                        List.of("field", "what it holds"),
                        Arrays.stream(LogField.values())
                                .map(field -> List.of("`" + field + "`", field.meaning()))
                                .toList());
    }
}
