// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.allocator.cel.FalseParts.Part;
import io.dra4j.allocator.model.Device;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

class FalsePartsTest {

    private static final String DEVICE = """
            {"name": "g",
             "attributes": {
               "model": {"string": "A100"}, "index": {"int": 3}, "resource.kubernetes.io/pcieRoot": {"string": "pci0"},
               "driverVersion": {"version": "550.1.0"}, "fast": {"bool": true}},
             "capacity": {"memory": {"value": "40Gi"}}}
            """;

    private static List<Part> of(String expression) throws Exception {
        Device device = Device.of(new ObjectMapper().readTree(DEVICE));
        return new FalseParts().of(expression, "gpu.example.com", device);
    }

    private static String shown(Part part) {
        return part.text()
                + part.values().entrySet().stream()
                        .map(one -> one.getKey() + "=" + one.getValue().orElse("none"))
                        .collect(Collectors.joining(", ", " [", "]"));
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/allocator/cel/the-part-and-what-it-reads.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void thePartAndWhatItReads(String expression, String expected) throws Exception {
        List<Part> parts = of(expression);

        assertThat(parts).hasSize(1);
        assertThat(shown(parts.get(0))).isEqualTo(expected);
    }

    @Test
    void allPartsThatAreFalseAndNoOther() throws Exception {
        String model = "device.attributes['gpu.example.com'].model";

        assertThat(of(model + " != 'A100' && " + model + " == 'A100' && " + model + " == 'B'"))
                .extracting(Part::text)
                .containsExactly(
                        "device.attributes[\"gpu.example.com\"].model != \"A100\"",
                        "device.attributes[\"gpu.example.com\"].model == \"B\"");
        assertThat(of(model + " == 'A100'")).isEmpty();
    }
}
