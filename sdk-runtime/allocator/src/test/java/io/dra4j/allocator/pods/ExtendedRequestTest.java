// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.allocator.Given;
import io.dra4j.allocator.pods.ResourceClasses.Entry;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The requests that extended resources stand for. */
class ExtendedRequestTest {

    private static ExtendedRequest of(String amount) {
        ResourceClasses classes = new ResourceClasses(List.of(new Entry("gpu", "example.com/gpu", "")));
        String pod = "{spec: {containers: [{resources: {limits: {'example.com/gpu': %s}}}]}}".formatted(amount);
        return ExtendedRequest.of(Given.json(pod), classes, resource -> false).get(0);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {"2, 2", "'2', 2", "'1k', 1000", "'2000m', 2", "'1e99', 9223372036854775807", "'x', 0"})
    void amountsAreQuantities(String amount, long count) {
        assertThat(of(amount).count()).isEqualTo(count);
    }

    @Test
    void namesHaveTheSameDigitsInEachLocale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(new Locale("ar", "EG"));

            assertThat(of("1").name()).isEqualTo("container-0-request-0");
        } finally {
            Locale.setDefault(before);
        }
    }
}
