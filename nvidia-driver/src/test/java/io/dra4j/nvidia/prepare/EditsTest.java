// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static io.dra4j.nvidia.standin.StandInNode.VERSION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.HookName;
import io.dra4j.api.container.Mount;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.nvml.CreatedInstance;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.InstancePlacement;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The edits of containers with GPUs: valid CDI specs of existing files, or an error. */
class EditsTest {

    private static final String CLAIM = "8f1e2d3c-0000-4000-8000-000000000001";
    private static final String LIBRARIES = "/usr/lib/x86_64-linux-gnu/";

    @TempDir
    private Path folder;

    private StandInNode node;

    @BeforeEach
    void install() {
        node = StandInNode.install(folder.resolve("usual"), "t4");
    }

    private StandInNode node(String boards) {
        return StandInNode.install(folder.resolve(boards), boards);
    }

    private Edits edits() {
        return new Edits(node.roots(), HookProgram.at(node.hook()));
    }

    private List<Gpu> gpus() {
        try (Nvml nvml = Nvml.open(node.library())) {
            return nvml.read().gpus();
        }
    }

    /** The edits of all GPUs and MIG devices, by a name for each. */
    private Map<String, ContainerEdits> all(Edits edits) {
        Map<String, ContainerEdits> all = new LinkedHashMap<>();
        for (Gpu gpu : gpus()) {
            all.put("gpu-" + gpu.minor(), edits.whole(gpu));
            for (MigDevice device : made(gpu)) {
                String name = "gpu-%d-mig-%d".formatted(gpu.minor(), device.gpuInstance());
                all.put(name, edits.mig(gpu, device));
            }
        }
        return all;
    }

    private static List<MigDevice> made(Gpu gpu) {
        return gpu.mig() == null ? List.of() : gpu.mig().devices();
    }

    private static Path hostPath(DeviceNode node) {
        return Path.of(Objects.requireNonNullElse(node.hostPath(), node.path()));
    }

    @Nested
    class OfEachBoard {

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
        void makeASpecThatIsValidAndResolvesAndNamesWhatIsThere(String board, int gpus, int migDevices)
                throws IOException {
            node = node(board);
            divide();
            Edits edits = edits();
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
                    .allSatisfy(each -> isThere(hostPath(each).toString()));
        }

        private void isThere(String path) {
            assertThat(Path.of(path)).startsWith(folder).exists();
        }
    }

    @Nested
    class Everybody {

        @Test
        void getsTheNodesOfTheDriver() {
            assertThat(edits().common(VERSION).deviceNodes())
                    .containsExactly(
                            DeviceNode.of("/dev/nvidia-uvm-tools", inDev("nvidia-uvm-tools")),
                            DeviceNode.of("/dev/nvidia-uvm", inDev("nvidia-uvm")),
                            DeviceNode.of("/dev/nvidiactl", inDev("nvidiactl")));
        }

        private String inDev(String name) {
            return node.root().resolve("dev").resolve(name).toString();
        }

        @Test
        void isPreparedByTheHooksInTheirOrder() {
            List<Hook> hooks = edits().common(VERSION).hooks();

            assertThat(hooks)
                    .extracting(hook -> String.join(" ", hook.args()))
                    .containsExactly(
                            "nvidia-cdi-hook create-symlinks --link"
                                    + " libGLX_nvidia.so.550.163.01::"
                                    + LIBRARIES
                                    + "libGLX_indirect.so.0 --link libcuda.so.1::"
                                    + LIBRARIES
                                    + "libcuda.so --link libcuda.so.550.163.01::"
                                    + LIBRARIES
                                    + "libcuda.so.1",
                            "nvidia-cdi-hook enable-cuda-compat --host-driver-version=550.163.01",
                            "nvidia-cdi-hook update-ldcache --folder /usr/lib/x86_64-linux-gnu"
                                    + " --folder /usr/lib/x86_64-linux-gnu/vdpau",
                            "nvidia-cdi-hook disable-device-node-modification");
            assertThat(hooks).allSatisfy(hook -> {
                assertThat(hook.name()).isEqualTo(HookName.CREATE_CONTAINER);
                assertThat(hook.path()).isEqualTo(node.hook().toString());
                assertThat(hook.env()).containsExactly("NVIDIA_CTK_DEBUG=false");
            });
        }

        @Test
        void disablesOtherRuntimesThatAddGpus() {
            assertThat(edits().common(VERSION).env())
                    .isEqualTo(Map.of(
                            "NVIDIA_VISIBLE_DEVICES", "void", "NVIDIA_CTK_LIBCUDA_DIR", "/usr/lib/x86_64-linux-gnu"));
        }
    }

    @Nested
    class OfAGpu {

        @Test
        void areItsNodeAndItsScreen() {
            assertThat(edits().whole(gpus().get(2)).deviceNodes())
                    .containsExactly(
                            DeviceNode.of("/dev/nvidia2", node.root() + "/dev/nvidia2"),
                            DeviceNode.of("/dev/dri/renderD130", node.root() + "/dev/dri/renderD130"));
        }

        @Test
        void areNotMadeWithoutItsNode() throws IOException {
            Gpu gpu = gpus().get(1);
            Files.delete(node.root().resolve("dev/nvidia1"));

            assertThatThrownBy(() -> edits().whole(gpu))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContainingAll(node.root() + "/dev/nvidia1", gpu.uuid(), "nvidia-modprobe -c1");
            assertThat(edits().whole(gpus().get(0)).deviceNodes()).hasSize(2);
        }

        @Test
        void ofAMigDeviceAreThoseOfTheGpuAndTwoCapabilities() throws IOException {
            node = node("h100-80");
            try (Nvml nvml = Nvml.open(node.library())) {
                Gpu gpu = nvml.read().gpus().get(3);
                nvml.switchMig(gpu.uuid(), true);
                CreatedInstance instance = nvml.createInstance(gpu.uuid(), 19, new InstancePlacement(6, 1));
                MigDevice device = nvml.createCompute(gpu.uuid(), instance);
                String place = "driver/nvidia/capabilities/gpu3/mig/gi" + instance.id();
                Files.writeString(
                        node.proc().resolve(place + "/access"),
                        "DeviceFileMinor: 417\nDeviceFileMode: 292\nDeviceFileModify: 1\n");
                Files.writeString(
                        node.proc().resolve(place + "/ci0/access"),
                        "DeviceFileMinor: 418\nDeviceFileMode: 256\nDeviceFileModify: 1\n");

                assertThat(edits().mig(gpu, device).deviceNodes())
                        .containsExactly(
                                DeviceNode.of("/dev/nvidia3", node.root() + "/dev/nvidia3"),
                                DeviceNode.of("/dev/dri/renderD131", node.root() + "/dev/dri/renderD131"),
                                capability(417, 0444),
                                capability(418, 0400));
            }
        }

        private static DeviceNode capability(long minor, int mode) {
            String path = "/dev/nvidia-caps/nvidia-cap" + minor;
            return DeviceNode.builder(path)
                    .type("c")
                    .major(234L)
                    .minor(minor)
                    .fileMode(mode)
                    .permissions("r")
                    .build();
        }
    }

    @Nested
    class ADriverThatIsElsewhere {

        private final Path onNode = Path.of("/run/nvidia/driver");

        /** As in a pod, to which the root of a driver container is mounted. */
        private Roots roots() {
            return new Roots(node.root(), onNode, null, node.proc(), node.sysfs());
        }

        @Test
        void hasItsHookWhereThisProcessNeedNotSeeIt() {
            Edits edits = new Edits(roots(), HookProgram.at(Path.of("/var/lib/plugin/nvidia-cdi-hook")));

            assertThat(edits.common(VERSION).hooks())
                    .extracting(Hook::path)
                    .containsOnly("/var/lib/plugin/nvidia-cdi-hook");
        }

        @Test
        void hasItsNodesInDevIfItMakesNoneOfItsOwn() throws IOException {
            Files.delete(node.root().resolve("dev/nvidiactl"));

            assertThat(roots().devices()).isEqualTo(Path.of("/dev"));
            assertThat(new DeviceNodes(roots()).node("nvidia0")).isEqualTo(DeviceNode.of("/dev/nvidia0"));
        }

        @Test
        void hasItsNodesWhereItIsSaid() throws IOException {
            Path dev = Files.createDirectories(folder.resolve("dev"));
            for (String name : List.of("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")) {
                Files.createFile(dev.resolve(name));
            }
            Roots roots = new Roots(node.root(), onNode, dev, node.proc(), node.sysfs());

            assertThat(new Edits(roots, HookProgram.at(node.hook()))
                            .common(VERSION)
                            .deviceNodes())
                    .hasSize(3)
                    .contains(DeviceNode.of(
                            "/dev/nvidiactl", dev.resolve("nvidiactl").toString()));
        }
    }

    @Nested
    class WithoutWhatEveryProgramNeeds {

        private void refused(String... words) {
            assertThatThrownBy(() -> edits().common(VERSION))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContainingAll(words);
        }

        @Test
        void theControlNodeIsMissed() throws IOException {
            Path dev = Files.createDirectories(folder.resolve("dev"));
            Roots roots = new Roots(node.root(), node.root(), dev, node.proc(), node.sysfs());

            assertThatThrownBy(() -> new Edits(roots, HookProgram.at(node.hook())).common(VERSION))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("Device node " + dev.resolve("nvidiactl"));
        }

        @Test
        void aMissingNodeIsNamedByItsPathOnTheNode() throws IOException {
            Files.delete(node.root().resolve("dev/nvidia-uvm"));
            Path onNode = Path.of("/run/nvidia/driver");
            Roots roots = new Roots(node.root(), onNode, null, node.proc(), node.sysfs());

            assertThatThrownBy(() -> new Edits(roots, HookProgram.at(node.hook())).common(VERSION))
                    .hasMessageContaining("/run/nvidia/driver/dev/nvidia-uvm ");
        }

        @Test
        void capabilitiesOfTheKernelAreMissed() throws IOException {
            Files.writeString(node.proc().resolve("devices"), "Character devices:\n195 nvidia\n");

            assertThatThrownBy(() -> edits().requireCapabilities())
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("nvidia-caps");
        }

        @Test
        void theHookIsMissed() throws IOException {
            Files.setPosixFilePermissions(node.hook(), PosixFilePermissions.fromString("rw-r--r--"));
            refused("Program " + node.hook(), "--nvidia-cdi-hook-path");

            Files.delete(node.hook());
            refused("Program " + node.hook());
        }

        @Test
        void theDriverIsMissed() {
            Path nothing = folder.resolve("nothing");
            Path dev = node.root().resolve("dev");
            Roots roots = new Roots(nothing, nothing, dev, node.proc(), node.sysfs());

            assertThatThrownBy(() -> new Edits(roots, HookProgram.at(node.hook())).common(VERSION))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("libcuda.so.550.163.01");
        }
    }
}
