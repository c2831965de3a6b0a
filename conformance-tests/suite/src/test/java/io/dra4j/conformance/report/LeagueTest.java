// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.run.Verdict;
import io.dra4j.testkit.ReferenceFile;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeagueTest {

    private static final Path PAGE = Path.of("../../docs-site/reference/league.md");

    @TempDir
    private Path folder;

    @Test
    void thePageIsRenderedFromTheReportsOfTheRepository() throws IOException {
        String page = League.page(PAGE.resolveSibling("reports"));
        new ReferenceFile(PAGE).assertIs(page);
    }

    @Test
    void whatADriverKeepsAndBreaksIsListedWithItsEvidence() throws IOException {
        Reports.write(SampleOutcome.ordinary(), folder.resolve("a-driver"));

        assertThat(League.page(folder))
                .containsPattern(
                        "gpu\\.example\\.com \\| 1\\.4\\.0 \\| 2026-11-21 \\| \\d{2,3} \\| 2 \\| \\d+ \\| 2 \\|")
                .contains("Example Corporation, example-gpu-driver, 1.4.0, go, tested on 2026-11-21")
                .contains("process, embedded API server of Kubernetes 1.36, timeouts times 1.0; declared: proc roll.")
                .containsPattern("Met: admin-access 2, cdi 12, .* Not judged: blocked 1, not applicable \\d+, ")
                .contains(
                        "- [DRA-PREP-03](requirements.md#dra-prep-03) (MUST, fail): `Request \"r0\" of claim default/claim-1 has",
                        "- [DRA-CDI-05](requirements.md#dra-cdi-05) (SHOULD, deviation): `A half-written spec was seen.`")
                .doesNotContain("[DRA-PREP-01]");
    }

    @Test
    void nothingOfAReportIsMarkup() throws IOException {
        Reports.write(
                SampleOutcome.outcome(
                        List.of(SampleOutcome.result(0, "", Verdict.FAIL, "`{{ 1 }}` <b>")), "a|<i>{{ 2 }}", ""),
                folder.resolve("a-driver"));

        assertThat(League.page(folder).replaceAll("`[^`]*`", "")).doesNotContain("{", "<b>", "a|", " <i>");
    }

    @Test
    void aFolderWithoutReportsIsAnError() throws IOException {
        assertThatThrownBy(() -> League.page(folder)).isInstanceOf(SettingsException.class);
        Files.writeString(folder.resolve("report.yaml"), "kind: Pod");
        assertThatThrownBy(() -> League.page(folder)).hasMessageContaining("is not a DriverConformanceReport");
    }
}
