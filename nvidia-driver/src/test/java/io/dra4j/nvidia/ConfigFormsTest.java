// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.error.PrepareException;
import io.dra4j.charttest.PagePart;
import io.dra4j.runtime.ClaimPreview;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Forms of configurations have the outcome that they have with NVIDIA's own driver. */
class ConfigFormsTest extends ProviderOnBoards {

    private static final String GPU = "On a GPU";
    private static final String SHARED_GPU = "On a GPU that can be shared";
    private static final String SHARED_MIG = "On a MIG device that can be shared";

    /** An entry of a claim's allocation. */
    private record Entry(String source, String requests, String parameters) {
        @Override
        public String toString() {
            return "{source: %s, requests: [%s], opaque: {driver: gpu.nvidia.com, parameters: %s}}"
                    .formatted(source, requests, parameters);
        }
    }

    private static AppliedConfig<?> applied(ClaimPreview node, String device, Entry entry) {
        String claim = """
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                status:
                  allocation:
                    devices:
                      results: [{request: r0, driver: gpu.nvidia.com, pool: node-1, device: %s}]
                      config: [%s]
                """.formatted(device, entry);
        List<AppliedConfig<?>> configs = node.allocated(claim).devices().get(0).configs();
        assertThat(configs).hasSize(1);
        return configs.get(0);
    }

    @ParameterizedTest
    @CsvSource({
        GPU + ", l40s, gpu-0, ''",
        "On a MIG device, a100-40-divided, gpu-0-mig-1g5gb-19-4, ''",
        SHARED_GPU + ", l40s, gpu-0, 'TimeSlicingSettings=true,MPSSupport=true'",
        SHARED_MIG + ", a100-40-divided, gpu-0-mig-1g5gb-19-4, 'TimeSlicingSettings=true,MPSSupport=true'"
    })
    void haveTheOutcomesOfTheirTable(String table, String boards, String device, String given) throws Exception {
        gates = given;
        ClaimPreview node = ClaimPreview.of("gpu.nvidia.com", start(boards, false));
        for (ConfigForm form : ConfigForm.of(table)) {
            for (ConfigSource source : List.of(ConfigSource.FROM_CLASS, ConfigSource.FROM_CLAIM)) {
                String name = source == ConfigSource.FROM_CLASS ? "FromClass" : "FromClaim";
                has(() -> applied(node, device, new Entry(name, "r0", form.json())), source, form.named());
                has(() -> applied(node, device, new Entry(name, "", form.json())), source, form.unnamed());
            }
        }
    }

    private static void has(Supplier<AppliedConfig<?>> config, ConfigSource source, String outcome) {
        switch (outcome) {
            case ConfigForm.APPLIES -> assertThat(config.get().source()).isEqualTo(source);
            case ConfigForm.IGNORED -> assertThat(config.get().source()).isEqualTo(ConfigSource.DEFAULT);
            default ->
                assertThatThrownBy(config::get)
                        .isInstanceOf(PrepareException.class)
                        .hasMessage(
                                "config 0 from the %s: %s",
                                source == ConfigSource.FROM_CLASS ? "class" : "claim", outcome);
        }
    }

    @Test
    void noSettingsAreAddedWhoseGateIsOff() throws Exception {
        gates = "TimeSlicingSettings=true";
        ClaimPreview node = ClaimPreview.of("gpu.nvidia.com", start("l40s", false));
        String sharing = "{apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: {strategy: TimeSlicing}}";

        assertThat(applied(node, "gpu-0", new Entry("FromClaim", "", sharing))
                        .value()
                        .toString())
                .contains("interval=Default", "mpsConfig=null");
    }

    @Test
    void areOnThePage() throws Exception {
        new PagePart(Path.of("../docs-site/reference/nvidia-driver.md"), "ConfigFormsTest")
                .assertIs("""
                | configuration, for a GPU | with `requests: [r0]` | without `requests` |
                |---|---|---|
                """ + ConfigForm.rows(GPU) + """

                        With the gates `TimeSlicingSettings` and `MPSSupport`:

                        | configuration, for a GPU | with `requests: [r0]` | without `requests` |
                        |---|---|---|
                        """ + ConfigForm.rows(SHARED_GPU) + """

                        | configuration, for a MIG device | with `requests: [r0]` | without `requests` |
                        |---|---|---|
                        """
                        + ConfigForm.rows(SHARED_MIG));
    }

    /**
     * A form of a configuration in a claim of one device, and what becomes of it: a row of {@code config-forms.md}.
     *
     * @param parameters the opaque parameters, as YAML
     * @param named the outcome if the entry names the device's request
     * @param unnamed the outcome if the entry names no request
     */
    private record ConfigForm(String parameters, String named, String unnamed) {

        static final String APPLIES = "applies";
        static final String IGNORED = "is ignored";

        private static final Path FILE = Path.of("src/test/resources/io/dra4j/nvidia/config-forms.md");

        /** Returns the rows of a table, each with the end of its line. */
        static String rows(String table) throws IOException {
            return Files.readString(FILE)
                            .split("## " + table + "\n", 2)[1]
                            .split("\n\n", 2)[0]
                            .strip() + "\n";
        }

        static List<ConfigForm> of(String table) throws IOException {
            return rows(table).lines().map(ConfigForm::ofRow).toList();
        }

        private static ConfigForm ofRow(String row) {
            String[] cells =
                    row.substring("| `".length(), row.length() - " |".length()).split("`? \\| ");
            String named = cells[1].replaceFirst("^is refused: ", "");
            return new ConfigForm(cells[0], named, cells[2].equals("the same") ? named : cells[2]);
        }

        /** Returns the parameters as a claim has them. */
        String json() {
            return parameters.startsWith("apiVersion")
                    ? "{" + parameters + "}"
                    : "{apiVersion: resource.nvidia.com/v1beta1, " + parameters + "}";
        }
    }
}
