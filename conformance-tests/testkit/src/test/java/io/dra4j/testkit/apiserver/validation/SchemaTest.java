// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import static io.dra4j.rules.Trees.repeat;
import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Quantities;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Decoding of a tree into the known fields. */
class SchemaTest {
    private final Schema schema = new Schema(KubernetesVersion.V1_36);
    private final ResourceKind slices = new ResourceKinds(KubernetesVersion.V1_36).named("resourceslices");

    @Test
    void unknownFieldsAreNamedAndGone() {
        ObjectNode slice = tree("{'apiVersion':'a','kind':'b','status':{},'metadata':{'nam':'x'},"
                + "'spec':{'devices':[{'name':'a','basic':{}}]}}");

        assertThat(schema.fit(slices, slice)).containsExactly("status", "metadata.nam", "spec.devices[0].basic");
        assertThat(slice)
                .isEqualTo(tree("{'apiVersion':'a','kind':'b','metadata':{},'spec':{'devices':[{'name':'a'}]}}"));
    }

    @Test
    void noMoreThanAHundredUnknownFieldsAreNamed() {
        ObjectNode slice = tree("{'spec':{" + repeat(",", 101, i -> "'x" + i + "':1") + "}}");

        assertThat(schema.fit(slices, slice)).hasSize(100).endsWith("spec.x99");
        assertThat(slice.path("spec")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'devices':{}}                                       | spec.devices must be a list",
                "{'devices':['a']}                                    | spec.devices[0] must be an object",
                "{'driver':1}                                         | spec.driver must be a string",
                "{'allNodes':'true'}                                  | spec.allNodes must be a boolean",
                "{'pool':{'generation':1.5}}                          | spec.pool.generation must be an integer",
                "{'devices':[{'capacity':{'m':{'value':'1 Gi'}}}]}    |  quantities must match the regular expression",
                "{'devices':[{'capacity':{'m':{'value':'1Zi'}}}]}     | quantities must match the regular expression",
                "{'devices':[{'capacity':{'m':{'value':'1mm'}}}]}     | unable to parse quantity's suffix",
                "{'devices':[{'capacity':{'m':{'value':'1e99999999999999999999'}}}]} | unable to parse quantity's suffix",
                "{'devices':[{'taints':[{'timeAdded':1}]}]}           | spec.devices[0].taints[0].timeAdded must be a string",
                "{'devices':[{'taints':[{'timeAdded':'a.b'}]}]}       | parsing time \"a.b\" as",
                "{'allNodes':1,'driver':1}                            | spec.allNodes must be a boolean",
                "{'driver':1,'sharedCounters':[{'counters':{'c':{'value':[]}}}]} | quantities must match the regular expression",
            })
    void aWrongTypeIsRefused(String spec, String message) {
        ObjectNode slice = tree("{'spec':" + spec.replace('\'', '"') + "}");

        assertThatThrownBy(() -> schema.fit(slices, slice)).hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource({
        "1024Mi, 1Gi",
        "0.5Gi, 512Mi",
        "1000, 1k",
        "1000m, 1",
        "1500m, 1500m",
        "1500, 1500",
        "0.1, 100m",
        "1e3, 1e3",
        "512, 512",
        "1Ki, 1Ki",
        "0, 0",
        "0Gi, 0",
        "1.5Ki, 1536",
        "100000, 100k",
        "+1, +1",
        "+0, 0",
        "-0, 0",
        "007, 007",
        "01Gi, 01Gi",
        "08Gi, 8Gi",
        "1.5, 1500m",
        "1.500, 1.500",
        "0.500, 500m",
        "1.0, 1",
        "1e1, 10",
        "1e9999, 1e9999",
        "1e9998, 100e9996",
        "1e-3, 1e-3",
        "1e-9999, 1e-9",
        "1000E, 1",
        "123456789012345678000, 123456789012345678k",
        "0.0000000001, 1n",
        "-2000, -2k",
        "1536Mi, 1536Mi",
        "16Ei, 9223372036854775807",
        "1024.5Ki, 1049088",
        "1024.0001Ki, 1048576102400u",
        "-0.1n, -1n",
        ".5, 500m",
        "1., 1.",
        "Ki, 0",
        "1e21, 1e21",
        "1E3, 1E3",
        "1E, 1E",
    })
    void quantitiesTakeTheirCanonicalForm(String sent, String stored) {
        assertThat(Quantities.canonical(sent)).isEqualTo(stored);
    }

    @Test
    void nullsInObjectsAreGoneAndInListsAndMapsAreZero() {
        ObjectNode slice = tree(
                "{'metadata':{},'spec':{'driver':null,'devices':[null,{'attributes':{'a':null,'b':{'int':null}},'bindingConditions':[null]}]}}");

        assertThat(schema.fit(slices, slice)).isEmpty();
        assertThat(slice)
                .isEqualTo(
                        tree(
                                "{'metadata':{},'spec':{'devices':[{},{'attributes':{'a':{},'b':{}},'bindingConditions':['']}]}}"));
    }

    @Test
    void fieldsThatAreAlwaysWrittenAreAdded() {
        ObjectNode slice = tree("{'spec':{'pool':{'name':'p'},'devices':[{'capacity':{'m':{}}}]}}");

        schema.complete(slices, slice);

        assertThat(slice)
                .isEqualTo(
                        tree(
                                "{'spec':{'pool':{'name':'p','generation':0,'resourceSliceCount':0},'devices':[{'capacity':{'m':{'value':'0'}}}]}}"));
    }

    @Test
    void timesLoseTheirFraction() {
        ObjectNode slice = tree("{'spec':{'devices':[{'taints':[{'timeAdded':'2026-01-01T01:00:00.9+01:00'}]}]}}");

        schema.fit(slices, slice);

        assertThat(slice.toString()).contains("\"timeAdded\":\"2026-01-01T00:00:00Z\"");
    }
}
