// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static io.dra4j.nvidia.standin.StandInNode.VERSION;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.Mount;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.nvidia.nvml.CreatedInstance;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Mig;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.cdi.CdiSpecs.DeviceEdits;
import io.dra4j.testkit.cdi.CdiCheck;
import io.dra4j.testkit.cdi.CdiVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The edits of containers with GPUs: valid CDI specs of existing files, or an error. */
class EditsTest {

    private static final String CLAIM = "8f1e2d3c-0000-4000-8000-000000000001";

    @TempDir
    private Path folder;

    private StandInNode node;

    /** The edits of all GPUs and MIG devices, by a name for each. */
    private Map<String, ContainerEdits> all(Edits edits) {
        Map<String, ContainerEdits> all = new LinkedHashMap<>();
        List<Gpu> gpus;
        try (Nvml nvml = Nvml.open(node.library())) {
            gpus = nvml.read().gpus();
        }
        for (Gpu gpu : gpus) {
            all.put("gpu-" + gpu.minor(), edits.whole(gpu));
            for (MigDevice device :
                    gpu.mig() == null ? List.<MigDevice>of() : gpu.mig().devices()) {
                String name = "gpu-%d-mig-%d".formatted(gpu.minor(), device.gpuInstance());
                all.put(name, edits.mig(gpu, device));
            }
        }
        return all;
    }

    @ParameterizedTest
    @CsvSource({
        "a100-40, 2, 0",
        "a100-40-divided, 2, 11",
        "a100-80, 2, 0",
        "a30, 2, 0",
        "a30-divided, 1, 3",
        "b200, 2, 2",
        "h100-80, 8, 8",
        "h200-141, 2, 2",
        "l40s, 4, 0",
        "mixed, 3, 1",
        "nvlink, 5, 0",
        "odd, 1, 1",
        "t4, 4, 0"
    })
    void makeASpecThatIsValidAndResolvesAndNamesWhatIsThere(String board, int gpus, int migDevices) throws IOException {
        node = StandInNode.install(folder, board);
        divide();
        Edits edits = new Edits(node.roots(), HookProgram.at(node.hook()));
        Map<String, ContainerEdits> all = all(edits);
        assertThat(all.keySet())
                .hasSize(gpus + migDevices)
                .filteredOn(name -> name.contains("mig"))
                .hasSize(migDevices);

        JsonNode spec = written(edits.common(VERSION), all);

        assertThat(CdiCheck.problems(spec)).isEmpty();
        assertThat(CdiVersion.problem(spec, "1.1.0")).isEmpty();
        assertThat(spec.path("kind").asText()).isEqualTo("k8s.gpu.nvidia.com/claim");
        assertThat(spec.path("devices")).hasSize(all.size());
        requireThere(edits.common(VERSION));
        all.values().forEach(this::requireThere);
    }

    /** Makes a MIG device on each GPU whose mode can be switched. */
    private void divide() {
        try (Nvml nvml = Nvml.open(node.library())) {
            for (Gpu gpu : nvml.read().gpus()) {
                Mig mig = gpu.mig();
                if (mig != null && gpu.architecture().switchesMigModeAtOnce()) {
                    MigProfile profile = mig.profiles().get(0);
                    nvml.switchMig(gpu.uuid(), true);
                    CreatedInstance instance = nvml.createInstance(
                            gpu.uuid(), profile.id(), profile.placements().get(1));
                    nvml.createCompute(gpu.uuid(), instance);
                }
            }
        }
    }

    /** Writes a claim of all devices, and looks each of the ids up. */
    private JsonNode written(ContainerEdits common, Map<String, ContainerEdits> all) throws IOException {
        CdiSpecs specs = new CdiSpecs(folder.resolve("cdi"), "gpu.nvidia.com");
        PoolName pool = new PoolName("node-1");
        List<DeviceEdits> devices = new ArrayList<>();
        all.forEach((name, own) -> devices.add(new DeviceEdits(pool, new DeviceName(name), null, own)));
        specs.write(CLAIM, common, devices);
        Path file = folder.resolve("cdi/k8s.gpu.nvidia.com-claim_" + CLAIM + ".json");
        JsonNode spec = new ObjectMapper().readTree(file.toFile());
        assertThat(specs.ids(CLAIM, devices))
                .containsExactlyElementsOf(spec.path("devices").findValuesAsText("name").stream()
                        .map(name -> "k8s.gpu.nvidia.com/claim=" + name)
                        .toList());
        return spec;
    }

    private void requireThere(ContainerEdits edits) {
        for (Mount mount : edits.mounts()) {
            isThere(mount.hostPath());
            assertThat(mount.hostPath()).isEqualTo(node.root() + mount.containerPath());
        }
        assertThat(edits.hooks()).extracting(Hook::path).allSatisfy(this::isThere);
        assertThat(edits.deviceNodes())
                .filteredOn(each -> each.major() == null) // the runtime makes the others
                .allSatisfy(each -> isThere(Objects.requireNonNullElse(each.hostPath(), each.path())));
    }

    private void isThere(String path) {
        assertThat(Path.of(path)).startsWith(folder).exists();
    }
}
