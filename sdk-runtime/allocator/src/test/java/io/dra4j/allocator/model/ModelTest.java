// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.allocator.Given;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/** Objects are decoded as far as an allocator needs them. */
class ModelTest {
    private static final Node NODE = new Node("n", Map.of("zone", "east", "size", "5"));

    @Test
    void devicesOfV1beta1AreReadFromBasic() {
        Device device = Device.of(Given.json("{name: 'd', basic: {attributes: {x: {bool: true}}}}"));

        assertThat(device).isEqualTo(Device.of(Given.json("{name: 'd', attributes: {x: {bool: true}}}")));
        assertThat(device.attributes()).hasSize(1);
    }

    @Test
    void requestsOfV1beta1HaveTheFieldsOfExactly() {
        String fields = "deviceClassName: 'c', count: 2";

        assertThat(claim("{name: 'r', %s}".formatted(fields)))
                .isEqualTo(claim("{name: 'r', exactly: {%s}}".formatted(fields)));
    }

    private static Claim claim(String request) {
        return Claim.of(Given.json("{metadata: {name: 'c'}, spec: {devices: {requests: [%s]}}}".formatted(request)));
    }

    @Test
    void anInvalidQuantityIsNamedWithItsPlace() {
        assertThatThrownBy(() -> Slice.of(Given.json(
                        "{metadata: {name: 's'}, spec: {devices: [{name: 'd', capacity: {m: {value: '1Kk'}}}]}}")))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessage("ResourceSlice s, device d, capacity[m]: \"1Kk\": unable to parse quantity's suffix");
        assertThatThrownBy(() -> claim("{name: 'r', exactly: {capacity: {requests: {m: 'x'}}}}"))
                .hasMessageStartingWith("ResourceClaim c, request r, requests[m]: \"x\": ");
    }

    @Test
    void attributesOfLaterReleasesAreUnknown() {
        AttributeValue value = AttributeValue.of(Given.json("{double: 1.5}"));

        assertThat(value.type()).isEqualTo(AttributeValue.Type.UNKNOWN);
        assertThat(value.isSame(value)).isFalse();
    }

    @Test
    void aQuantityThatManyObjectsHaveIsReadOnce() {
        Quantity first = Quantity.of(TextNode.valueOf("3Gi"));

        assertThat(Quantity.of(TextNode.valueOf("3Gi"))).isSameAs(first);
        assertThat(Quantity.of(IntNode.valueOf(3))).isEqualTo(Quantity.parse("3"));
    }

    @Test
    void quantitiesAreExactAndKeepTheirForm() {
        Quantity gibibyte = Quantity.parse("1Gi");

        assertThat(gibibyte.plus(Quantity.parse("512Mi"))).hasToString("1536Mi");
        assertThat(gibibyte.minus(Quantity.parse("1"))).hasToString("1073741823");
        assertThat(Quantity.parse("1000m")).isEqualTo(Quantity.parse("1"));
        assertThat(Quantity.parse("9223372036854775807")
                        .plus(Quantity.parse("1"))
                        .value())
                .isEqualTo("9223372036854775808");
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/allocator/model/nodes-are-selected-by-labels.csv",
            quoteCharacter = '\'')
    void nodesAreSelectedByLabels(String key, String operator, String value, boolean matches) {
        NodeSelector selector = NodeSelector.of(
                Given.json("{nodeSelectorTerms: [{matchExpressions: [{key: '%s', operator: '%s', values: ['%s']}]}]}"
                        .formatted(key, operator, value)));

        assertThat(selector.matches(NODE)).isEqualTo(matches);
    }

    @Test
    void nodesAreSelectedByName() {
        assertThat(NodeSelector.ofNode("n").matches(NODE)).isTrue();
        assertThat(NodeSelector.ofNode("m").matches(NODE)).isFalse();
        assertThat(new NodeSelector(List.of(new NodeSelector.Term(List.of(), List.of()))).matches(NODE))
                .isFalse();
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/allocator/model/taints-are-tolerated.csv",
            quoteCharacter = '\'')
    void taintsAreTolerated(String key, String operator, String value, String effect, boolean tolerated) {
        Toleration toleration = new Toleration(text(key), text(operator), text(value), text(effect));

        assertThat(toleration.tolerates(new Taint("k", "v", "NoSchedule"))).isEqualTo(tolerated);
    }

    private static String text(String value) {
        return value == null ? "" : value;
    }
}
