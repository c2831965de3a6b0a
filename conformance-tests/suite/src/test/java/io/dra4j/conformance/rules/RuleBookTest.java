// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every rule has its requirement, and every tested requirement its rule; and how a rule knows client-go. */
class RuleBookTest {

    private final Catalogue catalogue = Catalogue.load();
    private final RuleBook rules = new RuleBook();

    @Test
    void everyRuleIsARequirementOfTheCatalogue() {
        assertThat(rules.ids()).isNotEmpty().allMatch(id -> catalogue.find(id).isPresent());
    }

    @Test
    void everyRequirementHasARuleOrTheReasonWhyNot() {
        assertThat(catalogue.requirements())
                .filteredOn(requirement -> rules.group(requirement.id()).isEmpty())
                .allMatch(requirement -> !requirement.untested().isEmpty());
    }

    @Test
    void whatIsUntestedHasNoRule() {
        assertThat(catalogue.requirements())
                .filteredOn(requirement -> !requirement.untested().isEmpty())
                .extracting(Requirement::id)
                .doesNotContainAnyElementsOf(rules.ids());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    HTTP/1.1 kubelet-plugin/v0.1 (linux/amd64) kubernetes/abc [application/json, */*] | true
                    HTTP/1.1 words of a driver [application/json, */*]                                | true
                    HTTP/1.1 [application/vnd.kubernetes.protobuf,application/json]                   | true
                    HTTP/2.0 kubelet-plugin/v0.1 (linux/amd64) kubernetes/abc [application/json, */*] | false
                    HTTP/1.1 dra4j/1.0 (gpu.example.com) [application/json]                           | false
                    HTTP/1.1 Java-http-client/17.0.1                                                  | false
                    """)
    void clientGoIsKnownByTheMediaTypesItAccepts(String client, boolean lacksPings) {
        RecordedRequest request =
                new RecordedRequest(1, Instant.EPOCH, "GET", "/", Map.of(), "", 200, "", "", client, null);

        assertThat(ConnectionRules.lacksPings(request)).isEqualTo(lacksPings);
    }
}
