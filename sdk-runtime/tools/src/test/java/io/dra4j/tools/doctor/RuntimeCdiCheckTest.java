// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.testkit.driver.EndedProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RuntimeCdiCheckTest {

    private static final long SEED = Long.getLong("dra4j.seed", 26);
    private static final String CONFIG = "/etc/containerd/config.toml";

    @TempDir
    private Path root;

    private static List<Finding> look(NodeFiles node) {
        return new RuntimeCdiCheck(() -> node.runtime, node.host(), Path.of("/var/run/cdi"))
                .look()
                .findings();
    }

    private NodeFiles node(String runtime) {
        NodeFiles node = new NodeFiles(root);
        node.runtime = runtime;
        return node;
    }

    @Test
    void aThousandHealthyNodesHaveNoFinding() {
        Random random = new Random(SEED);
        for (int i = 0; i < 1000; i++) {
            NodeFiles node = NodeFiles.healthy(root, random);
            assertThat(look(node)).as("node %d of seed %d", i, SEED).isEmpty();
            node.clear();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
                    containerd://1.7.27; version = 2
                    containerd://1.7.27; [plugins."io.containerd.grpc.v1.cri"]|enable_cdi = false
                    containerd://1.7.27; [plugins."other"]|enable_cdi = true
                    containerd://2.1.4; [plugins.'io.containerd.cri.v1.runtime']|enable_cdi=false # no
                    containerd://2.1.4; plugins."io.containerd.cri.v1.runtime".enable_cdi = false
                    """)
    void offIsFoundOnce(String runtime, String text) {
        NodeFiles node = node(runtime);
        node.write(CONFIG, text.replace('|', '\n'));

        assertThat(look(node)).singleElement().satisfies(one -> {
            assertThat(one.object()).isEqualTo(CONFIG);
            assertThat(one.what()).startsWith("CDI is off in containerd ");
            assertThat(one.fix()).contains("sudo systemctl restart containerd");
        });
    }

    @Test
    void aFileThatIsNotSeenIsNotChecked() {
        assertThatThrownBy(() -> look(node("containerd://1.7.27")))
                .isInstanceOf(NotCheckedException.class)
                .hasMessageContaining("containerd config dump | grep enable_cdi");
    }

    /** With another --data-dir, the file of k3s is elsewhere; that of the usual name is not its. */
    @ParameterizedTest
    @CsvSource({"containerd://1.7.27-k3s1", "containerd://1.7.27-k3s1.32"})
    void aFileThatIsLeftOverIsNotThatOfK3s(String runtime) {
        NodeFiles node = node(runtime);
        node.write(CONFIG, "version = 2\n");

        assertThatThrownBy(() -> look(node)).isInstanceOf(NotCheckedException.class);
    }

    @Test
    void anImportMayHaveAStarAnywhere() {
        NodeFiles node = node("containerd://2.1.4");
        node.write(CONFIG, "version = 3\nimports = ['conf.d/9*-cdi.toml']\n");
        node.write(
                "/etc/containerd/conf.d/99-cdi.toml", "[plugins.'io.containerd.cri.v1.runtime']\nenable_cdi = false\n");

        assertThat(look(node)).hasSize(1);
    }

    @Test
    void anImportOutweighsTheFile() {
        NodeFiles node = node("containerd://2.1.4");
        node.write(CONFIG, "version = 3\nimports = ['conf.d/*.toml']\n");
        node.write("/etc/containerd/conf.d/a.toml", "[plugins.'io.containerd.cri.v1.runtime']\nenable_cdi = false\n");

        assertThat(look(node)).hasSize(1);
    }

    @Test
    void aDirectoryThatIsNotReadIsFoundOnce() {
        NodeFiles node = node("containerd://2.1.4");
        node.write(CONFIG, "[plugins.'io.containerd.cri.v1.runtime']\ncdi_spec_dirs = ['/var/cdi/dynamic']\n");

        assertThat(look(node))
                .singleElement()
                .satisfies(one -> assertThat(one.fix().get(0)).contains("--cdi-root=/var/cdi/dynamic"));
    }

    @Test
    void containerdWithoutDirectoriesIsFoundOnce() {
        NodeFiles node = node("containerd://2.1.4");
        node.write(CONFIG, "[plugins.'io.containerd.cri.v1.runtime']\ncdi_spec_dirs = []\n");

        assertThat(look(node)).singleElement().satisfies(one -> {
            assertThat(one.what()).contains("reads CDI specs of no directory");
            assertThat(one.fix().get(0)).isEqualTo("# add /var/run/cdi to cdi_spec_dirs of " + CONFIG);
        });
    }

    /** The folder {@code net} of a process that ended can be opened, and not be listed. */
    @Test
    void aFolderThatCanNotBeListedHasNoFiles() throws Exception {
        try (EndedProcess ended = new EndedProcess()) {
            assertThat(new HostRoot(Path.of("/")).files(ended.folder() + "/net", "*"))
                    .isEmpty();
        }
    }

    @Test
    void crioWithoutDirectoriesIsFoundOnce() {
        NodeFiles node = node("cri-o://1.34.1");
        node.write("/etc/crio/crio.conf.d/99-off.conf", "[crio.runtime]\ncdi_spec_dirs = []\n");

        assertThat(look(node)).extracting(Finding::what).containsExactly("CDI is off in CRI-O 1.34.1");
    }

    @Test
    void anotherRuntimeIsNotChecked() {
        assertThatThrownBy(() -> look(node("docker://28.1")))
                .isInstanceOf(NotCheckedException.class)
                .hasMessageContaining("docker://28.1");
    }

    @Test
    void aPodThatDoesNotSeeTheNodeDoesNotCheck(@TempDir Path proc) throws Exception {
        Map<String, String> pod = Map.of("KUBERNETES_SERVICE_HOST", "10.96.0.1");
        process(proc.resolve("self"), "mnt:[1]");
        Path first = process(proc.resolve("1"), "mnt:[1]");

        assertThatThrownBy(() -> HostRoot.of(null, proc, pod).file("/etc"))
                .isInstanceOf(NotCheckedException.class)
                .hasMessageContaining("--host-root");
        assertThat(HostRoot.of(null, proc, Map.of()).path()).isEqualTo(Path.of("/"));
        assertThat(HostRoot.of(root, proc, pod).path()).isEqualTo(root);
        assertThat(HostRoot.of(root.resolve("none"), proc, pod).path()).isNull();

        Files.delete(first.resolve("ns/mnt"));
        Files.createSymbolicLink(first.resolve("ns/mnt"), Path.of("mnt:[2]"));
        assertThat(HostRoot.of(null, proc, pod).path()).isEqualTo(first.resolve("root"));
    }

    private static Path process(Path process, String mounts) throws Exception {
        Files.createDirectories(process.resolve("ns"));
        Files.createDirectories(process.resolve("root/etc"));
        Files.createSymbolicLink(process.resolve("ns/mnt"), Path.of(mounts));
        return process;
    }

    /** The root directory of a node, with the configuration of its container runtime. */
    private static final class NodeFiles {

        private static final String TABLE_OF_1 = "[plugins.\"io.containerd.grpc.v1.cri\"]";
        private static final String TABLE_OF_2 = "[plugins.'io.containerd.cri.v1.runtime']";
        private static final String USUAL = "cdi_spec_dirs = [\"/etc/cdi\", \"/var/run/cdi\"]\n";

        /** Forms of the same directories. */
        private static final List<String> DIRECTORIES = List.of(
                "",
                USUAL,
                "cdi_spec_dirs = [\n  '/etc/cdi', # static\n  '/run/cdi/',\n]\n",
                "cdi_spec_dirs=[ \"/var/run/cdi\" ]\n");

        final Path root;
        String runtime = "";

        NodeFiles(Path root) {
            this.root = root;
        }

        HostRoot host() {
            return new HostRoot(root);
        }

        void write(String file, String text) {
            try {
                Path path = root.resolve(file.substring(1));
                Files.createDirectories(path.getParent());
                Files.writeString(path, text);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A random configuration with CDI on for the usual directories. */
        static NodeFiles healthy(Path root, Random random) {
            NodeFiles node = new NodeFiles(root);
            switch (random.nextInt(6)) {
                case 0 -> node.containerd1(random);
                case 1 -> node.containerd2(random);
                case 2 -> node.k3s(random);
                case 3 -> node.crio(random);
                case 4 -> node.kops(random);
                default -> node.runtime = "containerd://2.1.4"; // by its defaults
            }
            return node;
        }

        private static <T> T one(List<T> of, Random random) {
            return of.get(random.nextInt(of.size()));
        }

        private void containerd1(Random random) {
            runtime = one(List.of("containerd://1.7.27", "containerd://1.7.2-k0s"), random);
            String on = "  enable_cdi = true\n" + one(DIRECTORIES, random);
            String file = "version = 2\nroot = \"/var/lib/containerd\"\n\n";
            switch (random.nextInt(3)) {
                case 0 -> write("/etc/containerd/config.toml", file + TABLE_OF_1 + "\n" + on);
                case 1 ->
                    write(
                            "/etc/containerd/config.toml",
                            file
                                    + "# enable_cdi = false\n[plugins]\n  [ plugins.\"io.containerd.grpc.v1.cri\" ]\n"
                                    + on
                                    + "  [plugins.\"io.containerd.grpc.v1.cri\".containerd]\n    snapshotter = \"overlayfs\"\n");
                default -> {
                    write(
                            "/etc/containerd/config.toml",
                            "imports = [\"/etc/containerd/conf.d/%s.toml\"]\n"
                                            .formatted(one(List.of("*", "99-*", "*-c*"), random))
                                    + file);
                    write("/etc/containerd/conf.d/99-cdi.toml", TABLE_OF_1 + "\n" + on);
                    write("/etc/containerd/conf.d/README", TABLE_OF_1 + "\nenable_cdi = false\n");
                }
            }
        }

        private void containerd2(Random random) {
            runtime = one(List.of("containerd://2.0.5", "containerd://v2.2.0"), random);
            String enabled = random.nextBoolean() ? "  enable_cdi = true\n" : "";
            write(
                    "/etc/containerd/config.toml",
                    "version = 3\n" + TABLE_OF_2 + "\n" + enabled + one(DIRECTORIES, random));
        }

        private void k3s(Random random) {
            runtime = "containerd://2.1.4-k3s1";
            write(
                    "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
                    "version = 3\n" + TABLE_OF_2 + "\n" + one(DIRECTORIES, random));
            // Left over from before the node became one of k3s.
            write("/etc/containerd/config.toml", TABLE_OF_1 + "\n  enable_cdi = false\n");
        }

        private void kops(Random random) {
            runtime = "containerd://1.7.27";
            write(
                    "/etc/containerd/config-kops.toml",
                    "version = 2\n" + TABLE_OF_1 + "\n  enable_cdi = true\n" + one(DIRECTORIES, random));
            // Of the distribution's package.
            write("/etc/containerd/config.toml", "disabled_plugins = [\"cri\"]\n");
        }

        private void crio(Random random) {
            runtime = "cri-o://1.34.1";
            if (random.nextBoolean()) {
                write("/etc/crio/crio.conf", "[crio.runtime]\n# cdi_spec_dirs = []\n");
            }
            write("/etc/crio/crio.conf.d/10-crio.conf", "[crio.runtime]\n" + one(DIRECTORIES, random));
        }

        void clear() {
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file :
                        files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                    if (!file.equals(root)) {
                        Files.delete(file);
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
