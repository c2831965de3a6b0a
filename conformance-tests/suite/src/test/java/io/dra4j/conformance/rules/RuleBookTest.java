// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import org.junit.jupiter.api.Test;

/** Every rule has its requirement, and every tested requirement its rule. */
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
}
