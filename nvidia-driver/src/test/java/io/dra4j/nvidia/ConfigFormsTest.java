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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Forms of configurations have the outcome that they have with NVIDIA's own driver. */
class ConfigFormsTest extends ProviderOnBoards {

    private static final String GPU = "On a GPU";
    private static final String SHARED_GPU = "On a GPU that can be shared";
    private static final String SHARED_MIG = "On a MIG device that can be shared";
    private static final String MIG = "gpu-0-mig-1g5gb-19-4";
    private static final String BOTH = "TimeSlicingSettings=true,MPSSupport=true";

    /** An entry of a claim's allocation. */
    private record Entry(String source, String requests, String parameters) {
        @Override
        public String toString() {
            return "{source: %s, requests: [%s], opaque: {driver: gpu.nvidia.com, parameters: %s}}"
                    .formatted(source, requests, parameters);
        }
    }

    private static Entry ofClaim(String requests, String parameters) {
        return new Entry("FromClaim", requests, "{apiVersion: resource.nvidia.com/v1beta1, " + parameters + "}");
    }

    private static Entry ofClass(String requests, String parameters) {
        return new Entry("FromClass", requests, ofClaim("", parameters).parameters());
    }

    private static ClaimPreview preview(NvidiaDeviceProvider provider) throws Exception {
        return ClaimPreview.of("gpu.nvidia.com", provider);
    }

    private static AppliedConfig<?> applied(ClaimPreview node, String device, Entry... entries) {
        return applied(node, "r0", device, entries);
    }

    private static AppliedConfig<?> applied(ClaimPreview node, String request, String device, Entry... entries) {
        String claim = """
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                status:
                  allocation:
                    devices:
                      results: [{request: %s, driver: gpu.nvidia.com, pool: node-1, device: %s}]
                      config: [%s]
                """.formatted(
                        request, device, Stream.of(entries).map(Entry::toString).collect(Collectors.joining(", ")));
        List<AppliedConfig<?>> configs = node.allocated(claim).devices().get(0).configs();
        assertThat(configs).hasSize(1);
        return configs.get(0);
    }

    private static Stream<DynamicTest> tests(ClaimPreview node, String device, List<ConfigForm> forms) {
        return forms.stream()
                .flatMap(form -> Stream.of("FromClaim", "FromClass")
                        .flatMap(source -> Stream.of(
                                test(node, device, form, source, "r0"), test(node, device, form, source, ""))));
    }

    private static DynamicTest test(ClaimPreview node, String device, ConfigForm form, String source, String requests) {
        String outcome = requests.isEmpty() ? form.unnamed() : form.named();
        return DynamicTest.dynamicTest(
                "%s %s [%s]".formatted(form.parameters(), source, requests),
                () -> has(
                        () -> applied(node, device, new Entry(source, requests, form.json())),
                        ConfigSource.valueOf(source.equals("FromClass") ? "FROM_CLASS" : "FROM_CLAIM"),
                        outcome));
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

    @TestFactory
    Stream<DynamicTest> onAGpu() throws Exception {
        return tests(preview(start("l40s", false)), "gpu-0", ConfigForm.of(GPU));
    }

    @TestFactory
    Stream<DynamicTest> onAMigDevice() throws Exception {
        return tests(preview(start("a100-40-divided", false)), MIG, ConfigForm.of("On a MIG device"));
    }

    @TestFactory
    Stream<DynamicTest> onAGpuThatCanBeShared() throws Exception {
        gates = BOTH;
        return tests(preview(start("l40s", false)), "gpu-0", ConfigForm.of(SHARED_GPU));
    }

    @TestFactory
    Stream<DynamicTest> onAMigDeviceThatCanBeShared() throws Exception {
        gates = BOTH;
        return tests(preview(start("a100-40-divided", false)), MIG, ConfigForm.of(SHARED_MIG));
    }

    @Test
    void eachStrategyHasItsOwnGate() throws Exception {
        gates = "TimeSlicingSettings=true";
        ClaimPreview node = preview(start("l40s", false));
        Entry slices = ofClaim("", "kind: GpuConfig, sharing: {strategy: TimeSlicing}");
        Entry mps = ofClaim("", "kind: GpuConfig, sharing: {strategy: MPS}");

        assertThat(applied(node, "gpu-0", slices).value().toString())
                .contains("interval=Default")
                .contains("mpsConfig=null");
        assertThatThrownBy(() -> applied(node, "gpu-0", mps)).hasMessageContaining("MPSSupport");
    }

    @Test
    void onAMigDeviceOnDemand() throws Exception {
        ClaimPreview node = preview(start("h100-80", true));
        String device = "gpu-0-mig-1g10gb-19-4";

        assertThat(applied(node, device, ofClaim("r0", "kind: MigDeviceConfig")).index())
                .isZero();
        assertThatThrownBy(() -> applied(node, device, ofClaim("r0", "kind: GpuConfig")))
                .hasMessageContaining("cannot apply GpuConfig to device node-1/" + device);
    }

    @Test
    void theLastEntryThatFitsWinsAndThoseBeforeAreNotLookedAt() throws Exception {
        ClaimPreview node = preview(start("l40s", false));
        Entry gpu = ofClaim("", "kind: GpuConfig");
        Entry shared = ofClaim("", "kind: GpuConfig, sharing: {strategy: MPS}");
        Entry mig = ofClaim("r0", "kind: MigDeviceConfig");
        Entry ofClass = ofClass("r0", "kind: GpuConfig");

        assertThat(applied(node, "gpu-0", gpu, gpu).index()).isEqualTo(1);
        assertThat(applied(node, "gpu-0", gpu, ofClass).index()).isZero();
        assertThat(applied(node, "gpu-0", shared, gpu).index()).isEqualTo(1);
        assertThat(applied(node, "gpu-0", mig, gpu).index()).isEqualTo(1);
        assertThatThrownBy(() -> applied(node, "gpu-0", gpu, shared))
                .hasMessageContaining("config 1 from the claim")
                .hasMessageContaining("MPSSupport");
        assertThatThrownBy(() -> applied(node, "gpu-0", gpu, mig))
                .hasMessageContaining("config 1 from the claim: cannot apply MigDeviceConfig");
    }

    @Test
    void anEntryForARequestIsForItsSubrequests() throws Exception {
        ClaimPreview node = preview(start("l40s", false));

        for (String named : List.of("r0", "r0/large")) {
            Entry entry = ofClaim(named, "kind: GpuConfig");
            assertThat(applied(node, "r0/large", "gpu-0", entry).source()).isEqualTo(ConfigSource.FROM_CLAIM);
        }
        assertThat(applied(node, "r0/large", "gpu-0", ofClaim("r0/small", "kind: GpuConfig"))
                        .source())
                .isEqualTo(ConfigSource.DEFAULT);
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
