// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class LogFieldTest {

    @Test
    void theReferencePageHasARowForEachKeyInOrder() throws Exception {
        List<String> keys = new ArrayList<>();
        for (Field field : LogField.class.getDeclaredFields()) {
            if (!field.isSynthetic()) { // JaCoCo's
                String key = (String) field.get(null);
                assertThat(key)
                        .isEqualTo(field.getName().toLowerCase(Locale.ROOT).replace('_', '.'));
                keys.add(key);
            }
        }

        assertThat(Files.readAllLines(Path.of("../docs-site/reference/log-fields.md")))
                .filteredOn(line -> line.startsWith("| `"))
                .allMatch(line -> line.matches("\\| `[a-z.]+` \\| \\S.* \\|"))
                .extracting(line -> line.split("`")[1])
                .containsExactlyElementsOf(keys);
    }
}
