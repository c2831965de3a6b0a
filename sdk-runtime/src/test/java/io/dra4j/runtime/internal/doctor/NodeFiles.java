// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.doctor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** The root directory of a node, with the configuration of its container runtime. */
final class NodeFiles {

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
        write("/etc/containerd/config.toml", "version = 3\n" + TABLE_OF_2 + "\n" + enabled + one(DIRECTORIES, random));
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
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                if (!file.equals(root)) {
                    Files.delete(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
