// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

class RecordedRequestTest {

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/proxy/a-path-names-a-resource-and-an-object.csv",
            delimiter = '|',
            quoteCharacter = '\'')
    void aPathNamesAResourceAndAnObject(String path, String resource, String name) {
        RecordedRequest request = RecordedRequest.arrived(1, Instant.EPOCH, "GET", path, Map.of(), "", "");

        assertThat(request.resource()).isEqualTo(resource);
        assertThat(request.name()).isEqualTo(name);
    }
}
