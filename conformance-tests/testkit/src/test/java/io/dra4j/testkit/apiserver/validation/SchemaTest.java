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
import io.dra4j.testkit.apiserver.model.ZeroValues;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

/** Decoding of a tree into the known fields, and of times as the real server reads them. */
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
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/apiserver/validation/a-wrong-type-is-refused.csv",
            delimiter = '|',
            quoteCharacter = '\'')
    void aWrongTypeIsRefused(String spec, String message) {
        ObjectNode slice = tree("{'spec':" + spec.replace('\'', '"') + "}");

        assertThatThrownBy(() -> schema.fit(slices, slice)).hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/apiserver/validation/quantities-take-their-canonical-form.csv",
            quoteCharacter = '\'')
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
    void nullsAndEmptyListsAreNotWrittenOut() {
        String form = "{'a':%1$s,'b':{'c':%1$s,'parameters':{'d':%1$s}},'e':[{'f':%1$s}]}";
        ObjectNode nulls = tree(form.formatted("null"));
        ObjectNode lists = tree(form.formatted("[]"));

        Canonical.dropNulls(nulls);
        Canonical.dropEmptyLists(lists);

        String raw = "{'b':{'parameters':{'d':%s}},'e':[{}]}";
        assertThat(nulls).isEqualTo(tree(raw.formatted("null")));
        assertThat(lists).isEqualTo(tree(raw.formatted("[]")));
    }

    @Test
    void fieldsThatWereNeverSetHaveTheZeroValuesOfTheirKind() {
        ResourceKinds kinds = new ResourceKinds(KubernetesVersion.V1_36);
        ObjectNode node = tree(
                "{'status':{'conditions':[{'type':'Ready','lastHeartbeatTime':'now'}],'nodeInfo':{'bootID':'b'}}}");
        ObjectNode claim = tree("{'status':{}}");

        ZeroValues.fill(kinds.named("nodes"), node);
        ZeroValues.fill(kinds.named("resourceclaims"), claim);

        assertThat(node.at("/status/conditions/0"))
                .isEqualTo(tree("{'type':'Ready','lastHeartbeatTime':'now','lastTransitionTime':null}"));
        assertThat(node.at("/status/nodeInfo")).hasSize(10).contains(node.textNode("b"));
        assertThat(claim).isEqualTo(tree("{'status':{},'spec':{'devices':{}}}"));
        assertThat(ZeroValues.of(slices))
                .isEqualTo(tree("{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1','metadata':{},"
                        + "'spec':{'driver':'','pool':{'name':'','generation':0,'resourceSliceCount':0}}}"));
    }

    @Test
    void timesLoseTheirFraction() {
        ObjectNode slice = tree("{'spec':{'devices':[{'taints':[{'timeAdded':'2026-01-01T01:00:00.9+01:00'}]}]}}");

        schema.fit(slices, slice);

        assertThat(slice.toString()).contains("\"timeAdded\":\"2026-01-01T00:00:00Z\"");
    }

    private static final String LAYOUT = " as \"2006-01-02T15:04:05Z07:00\": cannot parse ";

    @ParameterizedTest
    @CsvSource({
        "2026-01-01T01:00:00.9+01:00, 2026-01-01T00:00:00Z",
        "'2026-01-01T01:00:00,25Z', 2026-01-01T01:00:00Z",
        "2026-01-01T1:02:03Z, 2026-01-01T01:02:03Z",
        "2028-02-29T23:59:59-24:00, 2028-03-01T23:59:59Z",
    })
    void aTimeIsInUtcWithoutItsFraction(String sent, String stored) {
        Rfc3339 time = Rfc3339.read(sent);

        assertThat(time.problem()).isEmpty();
        assertThat(time.seconds()).isEqualTo(stored);
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/apiserver/validation/a-part-of-another-form-is-named.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void aPartOfAnotherFormIsNamed(String sent, String rest, String element) {
        assertThat(Rfc3339.read(sent).problem())
                .isEqualTo("parsing time \"%s\"%s\"%s\" as \"%s\"".formatted(sent, LAYOUT, rest, element));
    }

    @ParameterizedTest
    @CsvSource({
        "2026-13-01T00:00:00Z, month",
        "2026-02-29T00:00:00Z, day",
        "2026-01-01T24:00:00Z, hour",
        "2026-01-01T00:60:00Z, minute",
        "2026-01-01T00:00:60Z, second",
        "2026-01-01T00:00:00+25:00, time zone offset hour",
    })
    void aPartOutOfItsRangeIsNamed(String sent, String part) {
        assertThat(Rfc3339.read(sent).problem()).isEqualTo("parsing time \"" + sent + "\": " + part + " out of range");
    }

    @ParameterizedTest
    @CsvSource({"2026-01-01T00:00:00Z., .", "2026-01-01T00:00:00+01:00Z, Z"})
    void whatFollowsIsTooMuch(String sent, String extra) {
        assertThat(Rfc3339.read(sent).problem())
                .isEqualTo("parsing time \"" + sent + "\": extra text: \"" + extra + "\"");
    }
}
