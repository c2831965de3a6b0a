// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.gates;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.nvidia.gates.NvidiaGate.Handling;
import java.io.File;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The gates in the schema of the chart's values. */
class ChartGatesTest {

    @Test
    void theSchemaHasAllGatesAndLetsOnlyThoseBeOnThatThereAre() throws IOException {
        JsonNode gates = new ObjectMapper()
                .readTree(new File("deploy/helm/values.schema.json"))
                .at("/properties/featureGates/properties");

        assertThat(gates.fieldNames())
                .toIterable()
                .containsExactlyInAnyOrderElementsOf(
                        Stream.of(NvidiaGate.values()).map(Enum::name).toList());
        assertThat(NvidiaGate.values())
                .allSatisfy(gate -> assertThat(gates.path(gate.name()).has("const"))
                        .as(gate.name())
                        .isEqualTo(gate.handling() == Handling.NOT_SUPPORTED));
    }
}
