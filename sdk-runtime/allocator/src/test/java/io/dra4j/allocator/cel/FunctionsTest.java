// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.dra4j.allocator.cel.FalseParts.Part;
import io.dra4j.allocator.model.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The functions of Kubernetes, as its documentation describes them; and which parts of an expression are false. */
class FunctionsTest {

    static Stream<String> expressions() throws IOException {
        return lines("functions.txt");
    }

    /** The lines of a resource without its comments. */
    static Stream<String> lines(String name) throws IOException {
        return Files.readAllLines(Path.of("src/test/resources/io/dra4j/allocator/cel", name)).stream()
                .filter(line -> !line.isEmpty() && !line.startsWith("#"));
    }

    private static boolean matches(String expression) {
        return DeviceSelector.compile(expression).matches("gpu.example.com", JsonNodeFactory.instance.objectNode());
    }

    @ParameterizedTest
    @MethodSource("expressions")
    void isTrue(String expression) {
        assertThat(matches(expression)).isTrue();
    }

    @Test
    void whatCannotBeReadIsAnError() {
        for (String expression : new String[] {
            "quantity('200K') == quantity('1')",
            "quantity('1500m').asInteger() == 1",
            "semver('v1.0') == semver('1.0.0')",
            "semver('1.0.0-01') == semver('1.0.0')",
            "ip('010.0.0.1').isLoopback()",
            "cidr('10.0.0.0/33').prefixLength() == 33",
            "url('../relative').getHost() == ''",
            "[].max() == 1",
            "'%q'.format([1]) == ''",
            "'%s'.format([]) == ''",
            "lists.range(49).includes(49)"
        }) {
            assertThatThrownBy(() -> matches(expression)).as(expression).isInstanceOf(ExpressionException.class);
        }
    }

    @Test
    void anErrorSaysWhyAFunctionFailed() {
        assertThatThrownBy(() -> matches("quantity('1500m').asInteger() == 1"))
                .isInstanceOf(ExpressionException.class)
                .hasMessage("CEL runtime error: cannot convert value to integer");
    }

    @Test
    void versionsOfAnyLengthFitTheStack() {
        String many = ".a".repeat(4000);

        assertThat(matches("isSemver('1.0.0-a%s')".formatted(many))).isTrue();
        assertThat(matches("isSemver('1.0.0+a%s')".formatted(many))).isTrue();
    }

    @Test
    void loopsEndAtTheCostLimit() {
        String loop = "a.all(x, ".repeat(7) + "true" + ")".repeat(7);

        assertThatThrownBy(() -> matches("cel.bind(a, [1, 2, 3, 4, 5, 6, 7, 8], %s)".formatted(loop)))
                .isInstanceOf(ExpressionException.class)
                .hasMessage("CEL runtime error: operation cancelled: actual cost limit exceeded");
    }

    @ParameterizedTest
    @ValueSource(strings = {"device.attributes['other'].id", "device.attributes.other.id"})
    void anAttributeThatIsMissingIsAnError(String expression) {
        assertThatThrownBy(() -> matches(expression))
                .isInstanceOf(ExpressionException.class)
                .hasMessage("CEL runtime error: no such key: id");
    }

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
