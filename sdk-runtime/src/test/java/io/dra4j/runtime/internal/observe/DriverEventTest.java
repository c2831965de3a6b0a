// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DriverEventTest {

    private static final Path PAGE = Path.of("../docs-site/explanation/publishing.md");

    @ParameterizedTest
    @EnumSource(Reason.class)
    void everyReasonIsExplainedToTheAdmin(Reason reason) throws IOException {
        assertThat(reason.apiName()).matches("[A-Z][A-Za-z]{1,127}");
        assertThat(Files.readString(PAGE)).contains("`" + reason.apiName() + "`");
    }
}
