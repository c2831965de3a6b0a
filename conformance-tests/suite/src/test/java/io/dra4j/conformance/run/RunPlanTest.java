// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.settings.SettingsException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The selection and order of a run's requirements. */
class RunPlanTest {

    private static final Catalogue CATALOGUE = Catalogue.load();

    private static List<Requirement> plan(String more) {
        Settings settings = SettingsReader.parse(
                "driver: {name: gpu.example.com, process: {command: [driver]}}\n" + more, "the test", Map.of());
        RunPlan.check(CATALOGUE, settings);
        return RunPlan.of(
                CATALOGUE, settings, settings.apiServer().gates().version().minor());
    }

    private static List<String> ids(List<Requirement> requirements) {
        return requirements.stream().map(Requirement::id).toList();
    }

    @Test
    void aRequirementComesAfterThoseThatItNeeds() {
        Set<String> before = new HashSet<>();
        for (Requirement requirement : plan("")) {
            assertThat(before).containsAll(requirement.needs());
            before.add(requirement.id());
        }
        assertThat(before).hasSizeGreaterThan(100);
    }

    @Test
    void whatOthersNeedComesFirstOfAll() {
        List<Requirement> plan = plan("");
        Set<String> needed =
                plan.stream().flatMap(each -> each.needs().stream()).collect(Collectors.toSet());
        needed.addAll(List.of("DRA-SHUT-01", "DRA-SLICE-19")); // which explain failures of others

        assertThat(ids(plan.subList(0, needed.size()))).containsExactlyInAnyOrderElementsOf(needed);
    }

    @ParameterizedTest
    @CsvSource({"1.36, DRA-VER-01, DRA-HLT-08", "1.38, DRA-HLT-08, DRA-VER-01"})
    void aRequirementMayBeOfSomeReleases(String release, String one, String other) {
        assertThat(ids(plan("apiServer: {kubernetes: '%s'}".formatted(release))))
                .contains(one)
                .doesNotContain(other);
    }

    @Test
    void theSeedDecidesTheOrder() {
        assertThat(ids(plan("seed: 7"))).isEqualTo(ids(plan("seed: 7"))).isNotEqualTo(ids(plan("seed: 8")));
        assertThat(ids(plan("seed: 7"))).containsExactlyInAnyOrderElementsOf(ids(plan("seed: 8")));
    }

    @Test
    void whatIsAskedForBringsWhatItNeeds() {
        assertThat(ids(plan("only: [DRA-SLICE-08]"))).containsExactly("DRA-SLICE-01", "DRA-SLICE-03", "DRA-SLICE-08");
    }

    @Test
    void anIdThatIsUnknownIsNamed() {
        assertThatThrownBy(() -> plan("only: [DRA-SLICE-99]"))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("DRA-SLICE-99");
    }
}
