// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cdi;

import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.HookName;
import io.dra4j.api.container.IntelRdt;
import io.dra4j.api.container.Mount;
import io.dra4j.api.container.NetDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.cdi.CdiSpecs.CdiJson.CdiVersion;
import io.dra4j.runtime.internal.cdi.CdiSpecs.DeviceEdits;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CdiSpecsTest implements ScenarioSteps {

    private static final String FILE = "k8s.gpu.example.com-claim_uid-1.json";
    private static final ContainerEdits ENV =
            ContainerEdits.builder().env("A", "1").build();

    @TempDir
    Path root;

    private CdiSpecs specs;
    private Object inode;

    @BeforeEach
    void create() {
        specs = new CdiSpecs(root, "gpu.example.com");
    }

    private static DeviceEdits device(String name, ContainerEdits edits) {
        return new DeviceEdits(new PoolName("node"), new DeviceName(name), null, edits);
    }

    private String written(ContainerEdits claim, DeviceEdits... devices) throws IOException {
        specs.write("uid-1", claim, List.of(devices));
        return Files.readString(root.resolve(FILE));
    }

    private List<String> uids() {
        return specs.claimUids().stream().sorted().toList();
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "write" -> written(ENV, device("gpu-0", ENV));
            case "write-no-device" -> specs.write("uid-1", ENV, List.of());
            case "write-fails" ->
                assertThatThrownBy(() -> written(ENV, device("gpu-0", ENV)))
                        .isInstanceOf(DraException.class)
                        .hasMessageContaining(text.replace("{root}", root.toString()));
            case "remove" -> specs.remove(words[1]);
            case "start" -> create();
            case "start-in" -> {
                root = root.resolve(words[1]);
                create();
            }
            case "uids" -> assertThat(list(uids().stream())).isEqualTo(text);
            case "uids-fail" -> assertThatThrownBy(this::uids).isInstanceOf(DraException.class);
            case "file" -> {
                Path file = Files.writeString(root.resolve(text), "{");
                Instant age = Instant.now().minusSeconds(Long.parseLong(words[1]));
                Files.setLastModifiedTime(file, FileTime.from(age));
            }
            case "folder" -> Files.createDirectories(root.resolve(text));
            case "files" -> {
                try (Stream<Path> files = Files.list(root)) {
                    assertThat(list(files.map(Path::getFileName).sorted())).isEqualTo(text);
                }
            }
            case "mode" ->
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(root.resolve(text))))
                        .isEqualTo(words[1]);
            case "remember" -> inode = Files.getAttribute(root.resolve(FILE), "unix:ino");
            case "same" ->
                assertThat(Files.getAttribute(root.resolve(FILE), "unix:ino")).isEqualTo(inode);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("spec-files.txt")
    void aSpecIsAFileOfItsOwn(String scenario) throws Exception {
        play(scenario);
    }

    @Nested
    class File {

        @Test
        void holdsTheFieldsOfCdi() throws IOException {
            ContainerEdits all = ContainerEdits.builder()
                    .env("A", "1")
                    .deviceNode(DeviceNode.builder("/dev/c")
                            .hostPath("/dev/h")
                            .type("c")
                            .major(195L)
                            .minor(0L)
                            .fileMode(432)
                            .permissions("rw")
                            .uid(0L)
                            .gid(44L)
                            .build())
                    .mount(new Mount("/h", "/c", List.of("ro", "bind"), "none"))
                    .hook(new Hook(
                            HookName.CREATE_CONTAINER,
                            "/bin/hook",
                            List.of("hook", "x"),
                            List.of("K=v"),
                            Duration.ofSeconds(5)))
                    .netDevice(new NetDevice("eth1", "net0"))
                    .additionalGid(44)
                    .intelRdt(new IntelRdt("clos", "L3:0=f", "MB:0=50", List.of("s"), true))
                    .build();

            assertThat(written(ENV, device("gpu-0", all)))
                    .isEqualToIgnoringWhitespace(Files.readString(
                            Path.of("src/test/resources/io/dra4j/runtime/internal/cdi/all-fields.json")));
        }

        @ParameterizedTest
        @ValueSource(strings = {"../x", "", "a/b", "-x", "x_", "\0", "ü", ".."})
        void isNamedByAUidThatIsNoPath(String uid) {
            assertThatThrownBy(() -> specs.remove(uid)).hasMessageContaining("Not a claim UID");
            assertThatThrownBy(() -> specs.write(uid, ENV, List.of(device("gpu-0", ENV))))
                    .isInstanceOf(DraException.class);
            assertThat(root).isEmptyDirectory();
        }
    }

    @Nested
    class Names {

        @Test
        void areMadeOfUidDeviceAndShare() {
            DeviceEdits share = new DeviceEdits(new PoolName("p"), new DeviceName("gpu-0"), "s-1", ENV);

            assertThat(specs.ids("uid-1", List.of(device("gpu-0", ENV), share)))
                    .containsExactly(
                            "k8s.gpu.example.com/claim=uid-1-gpu-0", "k8s.gpu.example.com/claim=uid-1-gpu-0-s-1");
        }

        @Test
        void ofEqualDevicesOfTwoPoolsDiffer() {
            assertThat(specs.ids("uid-1", List.of(device("gpu-0", ENV), device("gpu-0", ENV))))
                    .doesNotHaveDuplicates()
                    .hasSize(2);
        }

        @ParameterizedTest
        @ValueSource(strings = {"../x", "", "a b", "x/", "=", "ü", "\ud83d", "x."})
        void ofAShareThatNoNameCanHaveAreRefused(String shareId) {
            DeviceEdits share = new DeviceEdits(new PoolName("p"), new DeviceName("gpu-0"), shareId, ENV);

            assertThatThrownBy(() -> specs.write("uid-1", ENV, List.of(share)))
                    .hasMessageContaining("The container edits of");
            assertThat(root).isEmptyDirectory();
        }

        @Test
        void ofADriverThatIsNoVendorAreRefused() {
            assertThatThrownBy(() -> new CdiSpecs(root, "gpu example")).hasMessageContaining("not a valid vendor");
        }

        @Test
        void aDeviceWithoutEditsGetsAMarker() throws IOException {
            assertThat(written(ENV, device("gpu-0", ContainerEdits.NONE))).contains("DRA4J_DEVICE_GPU_0=gpu-0");
        }
    }

    @ParameterizedTest
    @MethodSource
    void declaresTheLowestVersionThatKnowsItsFields(String version, ContainerEdits.Builder edits) {
        List<CdiSpec.Device> device = List.of(new CdiSpec.Device("a", edits.build()));
        CdiSpec spec = new CdiSpec("v/c", ContainerEdits.NONE, device);

        assertThat(CdiVersion.minimumOf(spec)).hasToString(version);
    }

    static Stream<Arguments> declaresTheLowestVersionThatKnowsItsFields() {
        return Stream.of(
                arguments("0.3.0", edits().env("A", "1")),
                arguments("0.4.0", mount("tmpfs")),
                arguments("0.3.0", mount(null)),
                arguments("0.5.0", node(DeviceNode.of("/dev/a", "/dev/b"))),
                arguments("0.3.0", node(DeviceNode.of("/dev/a"))),
                arguments("0.7.0", edits().additionalGid(1)),
                arguments("0.7.0", rdt(new IntelRdt("a", null, null, List.of(), false))),
                arguments("1.1.0", rdt(new IntelRdt("a", null, null, List.of("s"), false))),
                arguments("1.1.0", rdt(new IntelRdt("a", null, null, List.of(), true))),
                arguments("1.1.0", edits().netDevice(new NetDevice("a", "b"))));
    }

    @Test
    void aNameThatBeginsWithADigitAndAClassWithADotRaiseTheVersion() {
        List<CdiSpec.Device> digit = List.of(new CdiSpec.Device("1a", ENV));
        List<CdiSpec.Device> letter = List.of(new CdiSpec.Device("a", ENV));

        assertThat(CdiVersion.minimumOf(new CdiSpec("v.w/c", ENV, digit))).hasToString("0.5.0");
        assertThat(CdiVersion.minimumOf(new CdiSpec("v.w/c", ENV, letter))).hasToString("0.3.0");
        assertThat(CdiVersion.minimumOf(new CdiSpec("v/c.d", ENV, letter))).hasToString("0.6.0");
    }

    @ParameterizedTest
    @MethodSource
    void aBrokenRuleNamesDeviceFieldAndValue(String field, ContainerEdits.Builder edits) {
        assertThatThrownBy(() -> written(ContainerEdits.NONE, device("gpu-0", edits.build())))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("device uid-1-gpu-0")
                .hasMessageContaining(field);
        assertThat(root).isEmptyDirectory();
    }

    static Stream<Arguments> aBrokenRuleNamesDeviceFieldAndValue() {
        return Stream.of(
                arguments("env value of A: \"1 characters\"", edits().env("A", "\0")),
                arguments("deviceNodes type", node(typed("x", null, null))),
                arguments("deviceNodes permissions", node(typed("c", "rx", null))),
                arguments("deviceNodes uid", node(typed("c", "rw", -1L))),
                arguments("mounts hostPath", edits().mount(Mount.readOnly("", "/c"))),
                arguments("mounts containerPath", edits().mount(Mount.readOnly("/h", "c"))),
                arguments("hooks path", hook("bin/x", "K=v")),
                arguments("hooks env: \"1 characters\"", hook("/bin/x", "K")),
                arguments("hooks timeout", timeout(Duration.ofMillis(999))),
                arguments("mounts hostPath", edits().mount(Mount.readOnly("h", "/c"))),
                arguments(
                        "deviceNodes fileMode",
                        node(DeviceNode.builder("/dev/a").fileMode(-1).build())),
                arguments(
                        "netDevices name",
                        edits().netDevice(new NetDevice("a", "n")).netDevice(new NetDevice("b", "n"))),
                arguments("netDevices hostInterfaceName", edits().netDevice(new NetDevice("", "n"))),
                arguments("additionalGids", edits().additionalGid(1L << 32)),
                arguments("closID", rdt(new IntelRdt("..", null, null, List.of(), false))),
                arguments("closID", rdt(new IntelRdt("a/b", null, null, List.of(), false))),
                arguments("closID", rdt(new IntelRdt("a\n", null, null, List.of(), false))));
    }

    private static ContainerEdits.Builder edits() {
        return ContainerEdits.builder();
    }

    private static ContainerEdits.Builder node(DeviceNode node) {
        return edits().deviceNode(node);
    }

    private static DeviceNode typed(String type, String permissions, Long uid) {
        return DeviceNode.builder("/dev/a")
                .type(type)
                .permissions(permissions)
                .uid(uid)
                .build();
    }

    private static ContainerEdits.Builder mount(String type) {
        return edits().mount(new Mount("/h", "/c", List.of(), type));
    }

    private static ContainerEdits.Builder rdt(IntelRdt rdt) {
        return edits().intelRdt(rdt);
    }

    private static ContainerEdits.Builder timeout(Duration timeout) {
        return edits().hook(new Hook(HookName.PRESTART, "/bin/x", List.of(), List.of(), timeout));
    }

    private static ContainerEdits.Builder hook(String path, String env) {
        return edits().hook(new Hook(HookName.PRESTART, path, List.of(), List.of(env), null));
    }
}
